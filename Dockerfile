# The program and the shared libraries that it needs, for a folder mounted at /data:
#
#   docker build -t dragoman .
#   docker run -i -v "$PWD":/data dragoman translate -m run/ < in.en > out.de
#
# The same without LibTorch (no train, no score), a few megabytes more than Debian:
#
#   docker build -t dragoman-lite --target lite .
#
# PIP_FIND_LINKS may name a folder of the build machine that holds the wheel of LibTorch.
FROM docker.io/library/debian:bookworm-slim AS build
ARG PIP_FIND_LINKS
WORKDIR /dragoman
COPY scripts/setup scripts/
RUN scripts/setup
COPY . .
RUN scripts/build release dragoman dragoman-lite
# What Debian's own slim image already has stays out.
RUN for program in dragoman dragoman-lite; do \
      mkdir -p /image/$program/bin /image/$program/lib/dragoman \
      && strip -o /image/$program/bin/$program build/release/$program \
      && ldd build/release/$program | awk '$3 ~ /^\// {print $3}' \
       | grep -vE '/lib(c|dl|m|pthread|rt|gcc_s|stdc\+\+)\.so' \
       | xargs cp -L -t /image/$program/lib/dragoman \
      || exit 1; \
    done

FROM docker.io/library/debian:bookworm-slim AS base
RUN echo /usr/local/lib/dragoman > /etc/ld.so.conf.d/dragoman.conf \
 && useradd --create-home dragoman

FROM base AS lite
COPY --from=build /image/dragoman-lite /usr/local
RUN ldconfig
USER dragoman
WORKDIR /data
ENTRYPOINT ["dragoman-lite"]
CMD ["--help"]

FROM base
COPY --from=build /image/dragoman /usr/local
RUN ldconfig
USER dragoman
WORKDIR /data
ENTRYPOINT ["dragoman"]
CMD ["--help"]
