// Shows a survey, draws the report here, and sends the report alone. The answer is in no request and kept nowhere.
const Page = (() => {
  const part = (name) => document.getElementById(name);
  const say = (words) => { part("status").textContent = words; };
  const dice = () => Drawing.makeDice((bytes) => crypto.getRandomValues(bytes));

  const describe = (survey) => {
    part("title").textContent = survey.name;
    document.title = survey.name;
    say(`About ${survey.population}. ${survey.meaning} ${survey.promise}`);
  };

  const choose = (name, survey) => {
    const label = document.createElement("label"), list = document.createElement("select");
    list.id = `answer-${name}`;
    label.htmlFor = list.id;
    label.textContent = survey.questions[name] ? `${name}: ${survey.questions[name]}` : name;
    const listed = Drawing.labels(survey.columns[name]), words = (survey.words || {})[name] || [];
    for (const [at, each] of [[-1, "Choose …"], ...listed.entries()]) {
      const option = document.createElement("option");
      option.value = String(at);
      option.textContent = each === null ? "(no answer)" : String(words[at] ?? each);
      list.append(option);
    }
    part("form").append(label, list);
    return () => (Number(list.value) < 0 ? undefined : listed[Number(list.value)]);
  };

  const send = async (survey, report, token) => {
    say("Sending …");
    part("report").textContent = JSON.stringify(report, null, 2);
    part("sent").hidden = false;
    let answer;
    try {
      answer = await fetch(`/v1/surveys/${encodeURIComponent(survey.name)}/reports`, {
        method: "POST", headers: {"Content-Type": "application/json"}, credentials: "omit", referrerPolicy: "no-referrer",
        body: JSON.stringify({invitation: token, report}),
      });
    } catch {
      say("The service cannot be reached. Press Send again: the same report is sent, none is drawn anew.");
      return false;
    }
    const told = await answer.json().catch(() => ({}));
    say(answer.ok ? "Thank you. Your report was taken; your answer never left this device."
      : told.error ? told.error.message : "The service failed; press Send again.");
    return answer.ok || answer.status < 500 && answer.status !== 429;
  };

  const show = (survey, token) => {
    describe(survey);
    const names = Object.keys(survey.columns), given = new Map();
    for (const name of names) {
      const reason = Drawing.refusal(survey.columns[name], survey.draws[name]);
      if (reason !== null) { say(`${name}: ${reason}`); return; }
    }
    if (!Drawing.within(Object.values(survey.columns), survey.epsilon)) {
      say("The columns cost more than the survey says; nothing is sent from here.");
      return;
    }
    if (survey.state !== "open") { say("This survey is closed."); return; }
    if (!token) { say("Open the link of your invitation; it ends in # and a long word."); return; }
    for (const name of names) given.set(name, choose(name, survey));
    const button = document.createElement("button");
    button.type = "submit";
    button.textContent = "Protect my answer here, and send the report";
    part("form").append(button);
    part("form").hidden = false;
    let report = null;
    part("form").addEventListener("submit", async (event) => {
      event.preventDefault();
      if (report === null) {
        const answers = names.map((name) => given.get(name)());
        if (answers.includes(undefined)) { say("Choose an answer to every question."); return; }
        const rolled = dice();
        report = Object.fromEntries(
          names.map((name, at) => [name, Drawing.draw(survey.columns[name], survey.draws[name], answers[at], rolled)]));
      }
      button.disabled = true;
      const over = await send(survey, report, token);
      part("form").hidden = over;
      button.disabled = over;
      button.textContent = "Send the same report again";
    });
  };

  const start = async () => {
    const name = decodeURIComponent(location.pathname.split("/").pop()), token = location.hash.slice(1);
    history.replaceState(null, "", location.pathname);  // the invitation stays out of the browser's history
    try {
      const answer = await fetch(`/v1/surveys/${encodeURIComponent(name)}`, {credentials: "omit"});
      const told = await answer.json();
      if (answer.ok) show(told, token); else say(told.error.message);
    } catch { say("The service cannot be reached; load the page again."); }
  };
  return {start, show};
})();

if (typeof document !== "undefined") Page.start();
