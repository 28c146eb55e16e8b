"""How Alembic reaches the database: through the connection that it is given, in the transaction that is open."""

from alembic import context

from ziggurat.service.store._records import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table="service_version",
    render_as_batch=True,
)
context.run_migrations()
