// Answers a survey on the page, in node: a document of a few invented elements, and a service that keeps what it is sent.
const {readFileSync} = require("node:fs");
const asked = JSON.parse(readFileSync(0, "utf8"));

class Element {
  constructor(tag) { this.tag = tag; this.children = []; this.listeners = {}; this.hidden = false; this.value = "-1"; }
  append(...made) { this.children.push(...made); }
  addEventListener(name, listener) { this.listeners[name] = listener; }
}
const parts = Object.fromEntries(["title", "status", "form", "sent", "report"].map((name) => [name, new Element(name)]));
globalThis.document = {getElementById: (name) => parts[name], createElement: (tag) => new Element(tag), title: ""};
globalThis.location = {pathname: "/survey/habits", hash: "#an-invitation"};
const places = [];
globalThis.history = {replaceState: (_state, _title, place) => places.push(place)};
const requests = [], statuses = [...asked.statuses];
globalThis.fetch = async (address, options = {}) => {
  requests.push({address, body: options.body ?? null, credentials: options.credentials});
  if (!options.method) return {ok: true, status: 200, json: async () => asked.survey};
  const status = statuses.shift() ?? 201;
  if (status === 0) throw new TypeError("no connection");
  return {ok: status < 300, status, json: async () => (status < 300 ? {taken: true} : {error: {message: "Refused."}})};
};
const settle = () => new Promise((done) => setTimeout(done, 0));

(async () => {
  (0, eval)(asked.script);
  await settle();
  const lists = parts.form.children.filter((each) => each.tag === "select");
  lists.forEach((list, at) => { list.value = String(asked.choices[at]); });
  for (let i = 0; i < asked.presses; i += 1) {
    parts.form.listeners.submit?.({preventDefault: () => {}});
    await settle();
  }
  const words = [parts.status.textContent, parts.report.textContent ?? ""];
  process.stdout.write(JSON.stringify({requests, places, words, shown: lists.length}));
})();
