"""The shape of what a service remembers; secrets are kept as hashes, and no cell of a table ever.

Times are texts in UTC, so that both databases order them alike. The one thing here that came from private rows is what
was paid for: answers that wait in `repeats` to be told again.
"""

from sqlalchemy import Boolean, Column, Float, Integer, MetaData, PrimaryKeyConstraint, String, Table, Text

metadata = MetaData()

people = Table(
    "people",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("chief", Boolean, nullable=False, default=False),
    Column("password", String(200), nullable=True),
    Column("subject", String(300), nullable=True, unique=True),
    Column("active", Boolean, nullable=False, default=True),
    Column("made", String(32), nullable=False),
)
"""Who may sign in, and as what; `subject` is whom a provider of OpenID Connect calls so."""

keys = Table(
    "keys",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("person", String(32), nullable=False, index=True),
    Column("label", String(80), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("scopes", String(80), nullable=False),
    Column("made", String(32), nullable=False),
    Column("expires", String(32), nullable=True),
    Column("revoked", String(32), nullable=True),
)
"""Keys of programs: what is kept of one is its SHA-256."""

browser_sessions = Table(
    "browser_sessions",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("person", String(32), nullable=False, index=True),
    Column("csrf", String(64), nullable=False),
    Column("made", String(32), nullable=False),
    Column("expires", String(32), nullable=False),
)

links = Table(
    "links",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("person", String(32), nullable=False),
    Column("expires", String(32), nullable=False),
    Column("used", String(32), nullable=True),
)
"""Links that sign somebody in once."""

tables = Table(
    "tables",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("schema_text", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("inside", String(200), nullable=False, default=""),
    Column("population", String(64), nullable=False),
    Column("public", Boolean, nullable=False, default=False),
    Column("slot", Float, nullable=True),
    Column("person", String(32), nullable=False),
    Column("made", String(32), nullable=False),
)
"""Tables: what is publicly known of them, where they lie, and whose steward brought them."""

rights = Table(
    "rights",
    metadata,
    Column("person", String(32), nullable=False),
    Column("table_name", String(64), nullable=False),
    Column("may", String(16), nullable=False),
    PrimaryKeyConstraint("person", "table_name"),
)
"""Who may ask about a table, or is its steward."""

repeats = Table(
    "repeats",
    metadata,
    Column("person", String(32), nullable=False),
    Column("key", String(80), nullable=False),
    Column("request", String(64), nullable=False),
    Column("worker", String(80), nullable=False),
    Column("mark", Text, nullable=False),
    Column("status", Integer, nullable=True),
    Column("body", Text, nullable=True),
    Column("made", String(32), nullable=False, index=True),
    PrimaryKeyConstraint("person", "key"),
)
"""Requests that may be repeated after a lost connection, and what was answered."""

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("person", String(32), nullable=False, index=True),
    Column("table_name", String(64), nullable=False, default=""),
    Column("request", Text, nullable=False),
    Column("state", String(16), nullable=False, index=True),
    Column("step", String(300), nullable=False, default=""),
    Column("cancelled", Boolean, nullable=False, default=False),
    Column("go_on", Text, nullable=False, default=""),
    Column("round", Integer, nullable=False, default=0),
    Column("turn", Integer, nullable=False, default=0),
    Column("deaths", Integer, nullable=False, default=0),
    Column("slot", Float, nullable=True),
    Column("open", Boolean, nullable=False, default=False),
    Column("error", Text, nullable=True),
    Column("repeat_key", String(64), nullable=True, unique=True),
    Column("worker", String(80), nullable=False, default=""),
    Column("made", String(32), nullable=False, index=True),
    Column("begun", String(32), nullable=True),
    Column("ended", String(32), nullable=True),
)
"""Long work: waiting, running, done, failed, stopped (by a gate) or cancelled.

A `round` ends when the job does and begins anew when a steward lets it go on; a `turn` ends when a worker gives the job
back or dies. What came of a round lies in the folder of the job: here is only how it ended. `slot` is how long an
analyst's job takes at least, `open` whether everybody who may see the table may have what it releases.
"""

job_slots = Table(
    "job_slots",
    metadata,
    Column("name", String(16), primary_key=True),
    Column("worker", String(80), nullable=False),
)
"""Fixed names for processes that do long work, and who has each now."""

workers = Table(
    "workers",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("begun", String(32), nullable=False),
    Column("beat", String(32), nullable=False),
)
"""Processes of this service that live, on whichever machine."""

releases = Table(
    "releases",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("job", String(32), nullable=False, unique=True),
    Column("person", String(32), nullable=False),
    Column("table_name", String(64), nullable=False, index=True),
    Column("kind", String(32), nullable=False),
    Column("what", Text, nullable=False),
    Column("bundle", Text, nullable=False),
    Column("open", Boolean, nullable=False, default=False),
    Column("made", String(32), nullable=False),
)
"""What has left by a job, and where its bundle lies; `open` ones are for everybody who may see the table."""

models = Table(
    "models",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("table_name", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("folder", Text, nullable=False),
    Column("person", String(32), nullable=False),
    Column("made", String(32), nullable=False),
)
"""Models that answer: published ones predict, served ones answer from where they lie."""

oidc_starts = Table(
    "oidc_starts",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("expires", String(32), nullable=False, index=True),
)
"""Browsers that were sent to the provider of OpenID Connect and may come back once, by a hash of what they hold."""

populations = Table(
    "populations",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("open", Boolean, nullable=False, default=False),
)
"""Populations whose stewards let everybody read what was promised and spent about them."""

surveys = Table(
    "surveys",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("identity", String(32), nullable=False),
    Column("population", String(64), nullable=False, index=True),
    Column("table_name", String(64), nullable=False, default=""),
    Column("request", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("entry", Integer, nullable=True),
    Column("person", String(32), nullable=False),
    Column("made", String(32), nullable=False),
)
"""Surveys: how answers are protected where their people are; opening (not paid yet), open or closed; for ever."""

invitations = Table(
    "invitations",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("survey", String(64), nullable=False, index=True),
    Column("used", Boolean, nullable=False, default=False),
    sqlite_with_rowid=False,
)
"""Who may send one report to a survey: a hash of what was given out, and whether it was used, but not when."""

reports = Table(
    "reports",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("survey", String(64), nullable=False, index=True),
    Column("day", String(10), nullable=False),
    Column("report", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""Reports, protected before they came, in the order of random names, with the day and nothing of their sender."""
