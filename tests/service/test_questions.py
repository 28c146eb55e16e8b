def test_a_question_is_paid_for_and_answered(clinic):
    answered = clinic.ask("ana", clinic.count)
    assert answered.status_code == 200
    told = answered.json()
    assert told["answer"]["estimates"]["n"][0][0] > 9_000
    assert told["left"] == "epsilon 0.9"
    assert clinic.house.ledger.verify().ok


def test_the_same_question_again_is_free(clinic):
    first, second = clinic.ask("ana", clinic.count).json(), clinic.ask("ana", clinic.count).json()
    assert (first["answer"], second["replayed"], second["left"]) == (second["answer"], True, "epsilon 0.9")


def test_what_costs_more_than_is_left_is_refused_and_costs_nothing(clinic):
    refused = clinic.ask("ana", {**clinic.count, "epsilon": "1.5"})
    assert (refused.status_code, refused.json()["error"]["kind"]) == (402, "BudgetExceededError")
    assert clinic("ana", "GET", "/v1/grants").json()["grants"][0]["left"] == "1"


def test_a_request_sent_again_is_told_the_same_and_paid_once(clinic):
    key = {"Idempotency-Key": "request-0001"}
    first, second = clinic.ask("ana", clinic.count, **key), clinic.ask("ana", clinic.count, **key)
    assert second.headers["Idempotency-Replayed"] == "true"
    assert {**first.json(), "slot": None} == second.json()
    other = clinic.ask("ana", {**clinic.count, "epsilon": "0.2"}, **key)
    assert (other.status_code, other.json()["error"]["kind"]) == (409, "ConflictError")


def test_somebody_without_a_right_is_told_that_there_is_no_table(clinic):
    refused = clinic.ask("ben", clinic.count)
    unknown = clinic("ben", "POST", "/v1/ask", {"tables": ["nothing"], "question": clinic.count})
    assert refused.status_code == unknown.status_code == 404
    assert refused.json()["error"]["message"].replace("clinic", "nothing") == unknown.json()["error"]["message"]
