"""The process of one job: `python -m ziggurat.service.work FOLDER`, started and watched by a worker."""

import sys

from ziggurat.service.work._child import do_job

sys.exit(do_job(sys.argv[1]))
