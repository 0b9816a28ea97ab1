/**
 * What answers at an OTLP endpoint, asked by the first bytes of both protocols: the errors of exporters do not tell a
 * receiver of the other protocol from one that fails.
 */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { errorMessage } from '../../core/value/error.ts';

export type OtlpProtocol = 'grpc' | 'http';

export type OtlpAnswer =
  /** It speaks HTTP/1.1; `status` is its answer to an empty export. */
  | { readonly kind: 'http'; readonly status: number }
  /** It speaks HTTP/2 alone, as receivers of gRPC do. */
  | { readonly kind: 'grpc' }
  /** `why`: refused, unknown host, no certificate, … */
  | { readonly kind: 'unreachable'; readonly why: string }
  /** It takes the connection, and says nothing in time. */
  | { readonly kind: 'silent' }
  /** It closes the connection without an answer in either protocol. */
  | { readonly kind: 'neither' };

export interface OtlpEndpoint {
  readonly url: URL;
  readonly protocol: OtlpProtocol;
  /** As in `OTEL_EXPORTER_OTLP_HEADERS`. */
  readonly headers: Readonly<Record<string, string>>;
}

const WITHIN_MS = 3_000;
/** The client's part of the beginning of HTTP/2, and an empty frame of settings. */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const SETTINGS_FRAME = 4;

export async function probeOtlp(endpoint: OtlpEndpoint): Promise<OtlpAnswer> {
  const first = await ask(endpoint.url, toRequest(endpoint));
  if (first.kind === 'unreachable') return first;
  const status = first.kind === 'said' && /^HTTP\/1\.[01] (\d{3})/.exec(first.bytes.toString('latin1'))?.[1];
  if (status) return { kind: 'http', status: Number(status) };
  const second = await ask(endpoint.url, PREFACE);
  if (second.kind === 'said' && second.bytes[3] === SETTINGS_FRAME) return { kind: 'grpc' };
  return first.kind === 'silent' || second.kind === 'silent' ? { kind: 'silent' } : { kind: 'neither' };
}

/** An export of no spans, which is zero bytes in Protobuf. */
function toRequest({ url, headers }: OtlpEndpoint): Buffer {
  const lines = Object.entries({
    host: url.host,
    'content-type': 'application/x-protobuf',
    'content-length': '0',
    connection: 'close',
    ...headers,
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`POST ${url.pathname}${url.search} HTTP/1.1\r\n${head}\r\n`);
}

type Heard =
  | { readonly kind: 'said'; readonly bytes: Buffer }
  | { readonly kind: 'closed' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'unreachable'; readonly why: string };

/** Sends the bytes; resolves to the first ones of the answer. */
function ask({ hostname, port, protocol }: URL, bytes: Buffer): Promise<Heard> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'https:';
  const place = { host, port: Number(port) || (isTls ? 443 : 80) };
  return new Promise((resolve) => {
    let connected = false;
    const end = (heard: Heard) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(heard);
    };
    const onConnect = () => {
      connected = true;
      socket.write(bytes);
    };
    const socket: Socket = isTls
      ? connectTls({ ...place, servername: host }, onConnect)
      : connect(place, onConnect);
    const timer = setTimeout(
      () => end(connected ? { kind: 'silent' } : { kind: 'unreachable', why: 'it takes no connection' }),
      WITHIN_MS,
    );
    socket.once('data', (data) => end({ kind: 'said', bytes: data }));
    socket.once('close', () => end({ kind: 'closed' }));
    socket.once('error', (error) =>
      end(connected ? { kind: 'closed' } : { kind: 'unreachable', why: errorMessage(error) }),
    );
  });
}
