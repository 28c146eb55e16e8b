"""The first shape of what a service remembers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "browser_sessions",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("csrf", sa.String(length=64), nullable=False),
        sa.Column("made", sa.String(length=32), nullable=False),
        sa.Column("expires", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_index(op.f("ix_browser_sessions_person"), "browser_sessions", ["person"], unique=False)
    op.create_table(
        "invitations",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("survey", sa.String(length=64), nullable=False),
        sa.Column("used", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_invitations_survey"), "invitations", ["survey"], unique=False)
    op.create_table(
        "job_slots",
        sa.Column("name", sa.String(length=16), nullable=False),
        sa.Column("worker", sa.String(length=80), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("table_name", sa.String(length=64), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("step", sa.String(length=300), nullable=False),
        sa.Column("cancelled", sa.Boolean(), nullable=False),
        sa.Column("go_on", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("deaths", sa.Integer(), nullable=False),
        sa.Column("slot", sa.Float(), nullable=True),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("repeat_key", sa.String(length=64), nullable=True),
        sa.Column("worker", sa.String(length=80), nullable=False),
        sa.Column("made", sa.String(length=32), nullable=False),
        sa.Column("begun", sa.String(length=32), nullable=True),
        sa.Column("ended", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("repeat_key"),
    )
    op.create_index(op.f("ix_jobs_made"), "jobs", ["made"], unique=False)
    op.create_index(op.f("ix_jobs_person"), "jobs", ["person"], unique=False)
    op.create_index(op.f("ix_jobs_state"), "jobs", ["state"], unique=False)
    op.create_table(
        "keys",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("label", sa.String(length=80), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.String(length=80), nullable=False),
        sa.Column("made", sa.String(length=32), nullable=False),
        sa.Column("expires", sa.String(length=32), nullable=True),
        sa.Column("revoked", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_keys_person"), "keys", ["person"], unique=False)
    op.create_table(
        "links",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("expires", sa.String(length=32), nullable=False),
        sa.Column("used", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_table(
        "models",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("table_name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("made", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "oidc_starts",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("expires", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_index(op.f("ix_oidc_starts_expires"), "oidc_starts", ["expires"], unique=False)
    op.create_table(
        "people",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("chief", sa.Boolean(), nullable=False),
        sa.Column("password", sa.String(length=200), nullable=True),
        sa.Column("subject", sa.String(length=300), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("made", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
        sa.UniqueConstraint("subject"),
    )
    op.create_table(
        "populations",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "releases",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("job", sa.String(length=32), nullable=False),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("table_name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("bundle", sa.Text(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("made", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("job"),
    )
    op.create_index(op.f("ix_releases_table_name"), "releases", ["table_name"], unique=False)
    op.create_table(
        "repeats",
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("request", sa.String(length=64), nullable=False),
        sa.Column("worker", sa.String(length=80), nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("made", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("person", "key"),
    )
    op.create_index(op.f("ix_repeats_made"), "repeats", ["made"], unique=False)
    op.create_table(
        "reports",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("survey", sa.String(length=64), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_reports_survey"), "reports", ["survey"], unique=False)
    op.create_table(
        "rights",
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("table_name", sa.String(length=64), nullable=False),
        sa.Column("may", sa.String(length=16), nullable=False),
        sa.PrimaryKeyConstraint("person", "table_name"),
    )
    op.create_table(
        "surveys",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("identity", sa.String(length=32), nullable=False),
        sa.Column("population", sa.String(length=64), nullable=False),
        sa.Column("table_name", sa.String(length=64), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("entry", sa.Integer(), nullable=True),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("made", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index(op.f("ix_surveys_population"), "surveys", ["population"], unique=False)
    op.create_table(
        "tables",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("schema_text", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("inside", sa.String(length=200), nullable=False),
        sa.Column("population", sa.String(length=64), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("slot", sa.Float(), nullable=True),
        sa.Column("person", sa.String(length=32), nullable=False),
        sa.Column("made", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "workers",
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("begun", sa.String(length=32), nullable=False),
        sa.Column("beat", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
