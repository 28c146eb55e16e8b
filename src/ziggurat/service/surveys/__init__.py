"""Surveys: reports of people who protect their answers themselves, before anything of them comes here."""

from ziggurat.service.surveys._book import PublishedSurvey, SurveyBook
from ziggurat.service.surveys._description import check_report, describe_survey, make_record, read_reports
from ziggurat.service.surveys._page import SurveyPage, make_survey_page
from ziggurat.service.surveys._plan import SurveyPlan

__all__ = [
    "PublishedSurvey",
    "SurveyBook",
    "SurveyPage",
    "SurveyPlan",
    "check_report",
    "describe_survey",
    "make_record",
    "make_survey_page",
    "read_reports",
]
