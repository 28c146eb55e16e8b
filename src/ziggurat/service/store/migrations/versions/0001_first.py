"""The first shape: people, keys, tables, rights, repeats, jobs, releases and models."""

from alembic import op

from ziggurat.service.store._records import metadata

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table."""
    metadata.create_all(op.get_bind(), checkfirst=False)
