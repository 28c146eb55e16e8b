// Draws reports in node with the very script of the page: from seeded bytes, so that a test repeats itself.
const {createCipheriv, createHash} = require("node:crypto");
const {readFileSync} = require("node:fs");
const Drawing = require(process.argv[2]);

const seeded = (seed) => {
  const key = createHash("sha256").update(seed).digest();
  const stream = createCipheriv("aes-256-ctr", key, Buffer.alloc(16));
  return (bytes) => bytes.set(stream.update(Buffer.alloc(bytes.length)));
};

const asked = JSON.parse(readFileSync(0, "utf8"));
const told = asked.map(({part, recipe, answer, times, seed, epsilon, answers, lean}) => {
  if (lean !== undefined) return Drawing.keeps(epsilon, answers, lean);
  const reason = Drawing.refusal(part, recipe);
  if (reason !== null) return {reason};
  const dice = Drawing.makeDice(seeded(seed)), counts = {};
  for (let i = 0; i < times; i += 1) {
    const report = JSON.stringify(Drawing.draw(part, recipe, answer, dice));
    counts[report] = (counts[report] ?? 0) + 1;
  }
  return {counts};
});
process.stdout.write(JSON.stringify(told));
