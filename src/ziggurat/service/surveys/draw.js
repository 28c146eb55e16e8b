"use strict";
// Draws reports where their person is, with whole numbers alone: the law that is stated is the law that is drawn.
// Randomness comes as bytes from `fill`, in a browser crypto.getRandomValues; no float and no Math.random is used.
// Before it draws, it proves that the law it was told keeps the epsilon it was told; otherwise it refuses.

const Drawing = (() => {
  const FINE = 1n << 160n;
  const fail = (words) => { throw new Error(words); };

  const fraction = (text) => {
    const parts = /^(-?\d{1,60})(?:\/(\d{1,60}))?$/.exec(String(text));
    if (parts === null || parts[2] !== undefined && BigInt(parts[2]) === 0n) fail("An amount cannot be read.");
    return {p: BigInt(parts[1]), q: BigInt(parts[2] ?? "1")};
  };
  const minus = (a, b) => ({p: a.p * b.q - b.p * a.q, q: a.q * b.q});
  const plus = (a, b) => minus(a, {p: -b.p, q: b.q});
  const negative = (a) => ({p: -a.p, q: a.q});

  const makeDice = (fill) => {
    let bytes = new Uint8Array(0), at = 0;
    const byte = () => {
      if (at === bytes.length) { bytes = new Uint8Array(256); fill(bytes); at = 0; }
      return BigInt(bytes[at++]);
    };
    const below = (n) => {  // uniform on 0, ..., n - 1, by rejection
      if (n < 1n) fail("A draw needs a positive bound.");
      const bits = (n - 1n).toString(2).length, mask = (1n << BigInt(bits)) - 1n;
      for (;;) {
        let value = 0n;
        for (let taken = 0; taken < bits; taken += 8) value = value << 8n | byte();
        if ((value & mask) < n) return value & mask;
      }
    };
    const fading = (p, q) => {  // true with probability e^(-p/q), for p/q from 0 to 1 (Canonne, Kamath, Steinke 2020)
      let k = 1n;
      while (below(k * q) < p) k += 1n;
      return k % 2n === 1n;
    };
    const vanishing = ({p, q}) => {  // true with probability e^(-p/q), for p/q of at least 0
      for (; p > q; p -= q) if (!fading(1n, 1n)) return false;
      return fading(p, q);
    };
    const unlikely = (rate) => {  // true with probability 1 / (1 + e^rate), for a rate of at least 0
      for (;;) {
        if (below(2n) === 0n) return false;
        if (vanishing(rate)) return true;
      }
    };
    const exchange = (code, answers, lean) => {
      const rare = unlikely(lean.p < 0n ? negative(lean) : lean);
      if (rare === (lean.p < 0n)) return code;
      const other = below(answers - 1n);
      return other >= code ? other + 1n : other;
    };
    return {below, unlikely, exchange};
  };

  // Whether e^x is at least n, or at most n, for x of at least 0, by its series in steps of 2^-160.
  const atLeast = (x, n) => {
    if (x.p < 0n) return false;
    let term = FINE, sum = FINE;
    for (let i = 1n; term > 0n && sum < n * FINE; i += 1n) { term = term * x.p / (x.q * i); sum += term; }
    return sum >= n * FINE;
  };
  const atMost = (x, n) => {
    let term = FINE, sum = FINE;
    for (let i = 1n; sum <= n * FINE; i += 1n) {
      term = (term * x.p + x.q * i - 1n) / (x.q * i);
      sum += term;
      if (2n * x.p <= x.q * i && term <= 1n) return sum + 2n <= n * FINE;
    }
    return false;
  };
  // Whether keeping one of so many answers with odds e^lean makes no answer e^epsilon times as likely as another,
  // and the truth no less likely than any other.
  const keeps = (epsilon, answers, lean) =>
    answers >= 2n && epsilon.p > 0n && atLeast(minus(epsilon, lean), answers - 1n)
    && (lean.p >= 0n || atMost(negative(lean), answers - 1n));

  const WORD = (value) => BigInt.asUintN(64, value);
  const mix = (word) => {
    word = WORD((word ^ word >> 30n) * 0xBF58476D1CE4E5B9n);
    word = WORD((word ^ word >> 27n) * 0x94D049BB133111EBn);
    return word ^ word >> 31n;
  };
  const bucket = (seed, item, buckets) =>
    (mix(WORD(mix(seed) + (item + 1n) * 0x9E3779B97F4A7C15n)) >> 32n) * buckets >> 32n;

  const labels = (part) => {
    const listed = typeof part.categories === "number" ? [...Array(part.categories).keys()] : part.categories;
    return part.missing ? [...listed, null] : listed;
  };

  // Why a browser does not draw this, or null if it does.
  const refusal = (part, recipe) => {
    if (!recipe || !["exchange", "bits", "hash"].includes(recipe.draw))
      return "This page cannot draw it exactly; answer with 'ziggurat collect answer' instead.";
    try {
      const epsilon = fraction(part.epsilon), many = BigInt(labels(part).length);
      if (many !== BigInt(recipe.answers)) return "The law does not fit the list of answers.";
      if (labels(part).some((each) => typeof each === "number" && !Number.isSafeInteger(each)))
        return "The answers are numbers too long for a browser; answer with 'ziggurat collect answer' instead.";
      if (recipe.draw === "bits") {
        const held = fraction(recipe.held), others = fraction(recipe.others);
        const left = minus(epsilon, plus(held, others));
        return held.p < 0n || others.p < 0n || left.p < 0n ? "The law does not keep the epsilon that is stated." : null;
      }
      const among = recipe.draw === "hash" ? BigInt(recipe.buckets) : many;
      if (among > 1n << 24n) return "The law has too many answers.";
      return keeps(epsilon, among, fraction(recipe.lean)) ? null : "The law does not keep the epsilon that is stated.";
    } catch { return "The law cannot be read."; }
  };

  // The report of one answer, as it is sent: text, a number or null.
  const draw = (part, recipe, answer, dice) => {
    const reason = refusal(part, recipe);
    if (reason !== null) fail(reason);
    const listed = labels(part), held = listed.indexOf(answer);
    if (held < 0) fail("This answer is not in the public list.");
    const code = BigInt(held);
    if (recipe.draw === "exchange")
      return listed[Number(dice.exchange(code, BigInt(listed.length), fraction(recipe.lean)))];
    if (recipe.draw === "hash") {
      const buckets = BigInt(recipe.buckets), seed = dice.below(1n << 32n);
      return String(seed << 31n | dice.exchange(bucket(seed, code, buckets), buckets, fraction(recipe.lean)));
    }
    const bytes = new Uint8Array(Math.ceil(listed.length / 8));
    const kept = fraction(recipe.held), others = fraction(recipe.others);
    for (let i = 0; i < listed.length; i += 1)
      if (i === held ? !dice.unlikely(kept) : dice.unlikely(others)) bytes[i >> 3] |= 128 >> (i & 7);
    return [...bytes].map((each) => each.toString(16).padStart(2, "0")).join("");
  };

  // The sum of the columns' epsilons, as p/q, and whether it is at most what is stated.
  const within = (parts, stated) =>
    minus(fraction(stated), parts.map((each) => fraction(each.epsilon)).reduce(plus, {p: 0n, q: 1n})).p >= 0n;

  return {makeDice, refusal, draw, labels, within, keeps: (e, n, t) => keeps(fraction(e), BigInt(n), fraction(t))};
})();

if (typeof module !== "undefined") module.exports = Drawing;
