# The program and the shared libraries that it needs, for a folder mounted at /data:
#
#   docker build -t dragoman .
#   docker run -i -v "$PWD":/data dragoman translate -m run/ < in.en > out.de
#
# PIP_FIND_LINKS may name a folder of the build machine that holds the wheel of LibTorch.
FROM docker.io/library/debian:bookworm-slim AS build
ARG PIP_FIND_LINKS
WORKDIR /dragoman
COPY scripts/setup scripts/
RUN scripts/setup
COPY . .
RUN scripts/build release dragoman
# What Debian's own slim image already has stays out.
RUN mkdir -p /image/bin /image/lib && strip -o /image/bin/dragoman build/release/dragoman \
 && ldd build/release/dragoman | awk '$3 ~ /^\// {print $3}' \
  | grep -vE '/lib(c|dl|m|pthread|rt|gcc_s|stdc\+\+)\.so' | xargs cp -L -t /image/lib

FROM docker.io/library/debian:bookworm-slim
COPY --from=build /image/lib /usr/local/lib/dragoman
COPY --from=build /image/bin /usr/local/bin
RUN echo /usr/local/lib/dragoman > /etc/ld.so.conf.d/dragoman.conf && ldconfig \
 && useradd --create-home dragoman
USER dragoman
WORKDIR /data
ENTRYPOINT ["dragoman"]
CMD ["--help"]
