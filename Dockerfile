# One image for web, workers, beat and migrations. It holds no secret and no data: settings come from the environment,
# and what is written goes to /data.
FROM python:3.11-slim-bookworm AS installed
RUN python -m venv /venv
COPY requirements.txt requirements-s3.txt .
RUN /venv/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements.txt -r requirements-s3.txt

FROM python:3.11-slim-bookworm
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 ASSAY_DATA_DIR=/data ASSAY_BIND=0.0.0.0:8000
# Else each thread has a heap of its own and holds on to memory that another could use.
ENV MALLOC_ARENA_MAX=2
RUN groupadd --gid 10001 assay && useradd --uid 10001 --gid assay --no-create-home --shell /usr/sbin/nologin assay \
    && install -d -o assay -g assay -m 700 /data
COPY --from=installed /venv /venv
WORKDIR /assay
COPY . .
RUN python -m compileall -q .
USER assay
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
CMD ["gunicorn", "-c", "deploy/gunicorn.conf.py", "assessor.wsgi"]
