"""The corpus of messy files: each a habit of people or programs that write tables, and what reading it must give."""

import columnar_files
import database_files
import date_files
import encoding_files
import header_files
import line_files
import missing_files
import number_files
import quote_files
import statistics_files
import workbook_files

TOPICS = {
    "encodings": encoding_files.FILES,
    "lines": line_files.FILES,
    "quotes": quote_files.FILES,
    "headers": header_files.FILES,
    "numbers": number_files.FILES,
    "dates": date_files.FILES,
    "missing": missing_files.FILES,
    "workbooks": workbook_files.FILES,
    "statistics": statistics_files.FILES,
    "databases": database_files.FILES,
    "columnar": columnar_files.FILES,
}
CORPUS = tuple(case for cases in TOPICS.values() for case in cases)
