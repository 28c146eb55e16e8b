"""The database of the service: brought up to date by one process at a time, and quoted by nobody."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from secrets import token_hex

import pytest

pytest.importorskip("sqlalchemy", reason="the extra 'service' is not installed")

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from ziggurat.errors import UnavailableError
from ziggurat.service.store import ServiceStore, people, utc_now


def find_differences(store: ServiceStore) -> list:
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "service_version"})
        return compare_metadata(context, people.metadata)


def test_the_steps_that_are_written_out_make_what_the_records_say(tmp_path):
    store = ServiceStore(f"sqlite:///{tmp_path}/a/service.db")
    assert find_differences(store) != []  # an empty database differs
    store.migrate()
    store.migrate()
    assert find_differences(store) == []
    store.close()


def test_several_who_begin_at_once_make_it_once(tmp_path):
    stores = [ServiceStore(f"sqlite:///{tmp_path}/service.db") for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(ServiceStore.migrate, stores))
    assert find_differences(stores[0]) == []
    for store in stores:
        store.close()


def test_only_its_owner_reads_it(tmp_path):
    store = ServiceStore(f"sqlite:///{tmp_path}/service.db")
    store.migrate()
    assert stat.S_IMODE((tmp_path / "service.db").stat().st_mode) == 0o600
    store.close()


def test_what_goes_wrong_says_nothing_of_what_was_written(tmp_path):
    store = ServiceStore(f"sqlite:///{tmp_path}/service.db")  # nothing was made there yet
    row = {"id": "1", "name": "planted-secret", "role": "analyst", "chief": False, "active": True, "made": utc_now()}
    with pytest.raises(UnavailableError) as raised, store.write() as connection:
        connection.execute(people.insert().values(**row))
    assert "planted-secret" not in f"{raised.value}{raised.value.__context__}"
    store.close()


def test_only_its_owner_reads_what_lies_beside_it_while_it_is_open(tmp_path):
    """SQLite writes what comes in to a file beside it first, which inherits who may read it."""
    store = ServiceStore(f"sqlite:///{tmp_path}/service.db")
    store.migrate()
    with store.write() as connection:
        row = {"id": "1", "name": "a", "role": "analyst", "chief": False, "active": True, "made": utc_now()}
        connection.execute(people.insert().values(**row))
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.glob("service.db*")} == {0o600}
    assert len(list(tmp_path.glob("service.db*"))) > 1  # the control: something lies beside it
    store.close()


@pytest.mark.postgres
def test_in_postgresql_it_keeps_to_a_schema_of_its_own_and_later_starts_need_no_right_to_make_any(database):
    psycopg = pytest.importorskip("psycopg")
    url = database.replace("postgresql://", "postgresql+psycopg://", 1)
    chief, role = ServiceStore(url), f"role_{token_hex(4)}"
    chief.migrate()
    with psycopg.connect(database) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA ziggurat_service TO {role}")
        connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ziggurat_service TO {role}")
    served = ServiceStore(url.replace("postgres:@", f"{role}:@"))
    served.migrate()
    row = {"id": "1", "name": "ana", "role": "analyst", "chief": False, "active": True, "made": utc_now()}
    with served.write() as connection:
        connection.execute(people.insert().values(**row))
    for store in (chief, served):
        store.close()
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT name FROM ziggurat_service.people").fetchall() == [("ana",)]
        assert connection.execute("SELECT * FROM public.people").fetchall() == []
        connection.execute(f"DROP OWNED BY {role}")
        connection.execute(f"DROP ROLE {role}")
