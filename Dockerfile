# Three images. Each holds a program and the shared libraries that it needs.
#
#   docker build -t dragoman:lite --target lite .     dragoman-lite serves; no LibTorch is fetched or compiled
#   docker build -t dragoman:cpu  --target cpu .      dragoman trains and translates, in the folder mounted at /data
#   docker build -t dragoman:cuda --target cuda .     the same on a GPU of NVIDIA
#
#   docker run --rm -p 5000:5000 -v "$PWD":/data:ro dragoman:lite       # serve.toml there names the models
#   docker run --rm -i -v "$PWD":/data:ro dragoman:cpu translate -m run/ < in.en > out.de
#
# PIP_FIND_LINKS may name a folder of the build machine that holds the wheel of LibTorch.
FROM docker.io/library/debian:bookworm-slim AS base
RUN echo /usr/local/lib/dragoman > /etc/ld.so.conf.d/dragoman.conf \
 && useradd --create-home --uid 1000 dragoman

FROM docker.io/library/debian:bookworm-slim AS build-lite
WORKDIR /dragoman
COPY scripts/setup scripts/
RUN scripts/setup --lite
COPY . .
RUN scripts/build lite dragoman-lite && deploy/collect build/lite/dragoman-lite /image

FROM base AS lite
COPY --from=build-lite /image /usr/local
COPY deploy/health /usr/local/bin/
RUN ldconfig
USER 1000
WORKDIR /data
EXPOSE 5000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["health", "5000"]
ENTRYPOINT ["dragoman-lite"]
CMD ["serve", "--host", "0.0.0.0", "--config", "serve.toml"]

FROM docker.io/library/debian:bookworm-slim AS build-cuda
ARG PIP_FIND_LINKS
WORKDIR /dragoman
COPY scripts/setup scripts/
RUN scripts/setup --cuda
COPY . .
RUN scripts/build release dragoman && deploy/collect build/release/dragoman /image \
 && find .libtorch/nvidia -name '*.so*' -exec cp -Ln -t /image/lib/dragoman {} +

# The driver is the machine's: docker run --gpus all.
FROM base AS cuda
COPY --from=build-cuda /image /usr/local
RUN ldconfig
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000
WORKDIR /data
ENTRYPOINT ["dragoman"]
CMD ["--help"]

FROM docker.io/library/debian:bookworm-slim AS build-cpu
ARG PIP_FIND_LINKS
WORKDIR /dragoman
COPY scripts/setup scripts/
RUN scripts/setup
COPY . .
RUN scripts/build release dragoman && deploy/collect build/release/dragoman /image

FROM base AS cpu
COPY --from=build-cpu /image /usr/local
RUN ldconfig
USER 1000
WORKDIR /data
ENTRYPOINT ["dragoman"]
CMD ["--help"]
