/**
 * Why a connection to Temporal failed: a gRPC client says only that its time is over. What listens at the address is
 * asked, once and briefly, after the failure.
 */
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { errorMessage, RuntimeError } from './core/value/error.ts';

/** The part of the connection's options that matters here. */
export interface FailedConnection {
  readonly address?: string | undefined;
  readonly tls?: unknown;
}

/** `command`: how a person starts ours. */
export async function explainUnreachable(
  connection: FailedConnection,
  cause?: unknown,
  command = 'everthread',
): Promise<RuntimeError> {
  const { address } = connection;
  const reason = await findReason(connection);
  const message =
    reason === undefined
      ? `No Temporal server answers at ${address}. Start one with "${command} dev" in a project ("${command} new" makes one), or set TEMPORAL_ADDRESS to a running one.`
      : `The server at ${address} cannot be used: ${reason}.`;
  return new RuntimeError('TemporalUnavailable', message, { cause });
}

const ANSWER_WITHIN_MS = 1_000;

/** Resolves to undefined if nothing answers, or if what does looks right; never rejects. */
export async function findReason({ address = '', tls }: FailedConnection): Promise<string | undefined> {
  const [, host = '', port = '7233'] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(address) ?? [];
  const place = { host, port: Number(port) };
  const given = (typeof tls === 'object' ? tls : {}) as {
    readonly serverRootCACertificate?: Uint8Array;
    readonly serverNameOverride?: string;
  };
  const ca = given.serverRootCACertificate && Buffer.from(given.serverRootCACertificate);
  const servername = given.serverNameOverride ?? (/[a-z]/i.test(host) ? host : undefined);
  const secure = await ask((done) => {
    const socket = connectTls({ ...place, ca, servername, ALPNProtocols: ['h2'], rejectUnauthorized: false });
    return socket.once('secureConnect', () => done(describeCertificate(socket)));
  });
  if (secure !== undefined && !tls) return 'it speaks TLS: set TEMPORAL_TLS=true';
  if (secure !== undefined)
    return secure === ''
      ? undefined
      : `its certificate is refused (${secure}): name its authority by TEMPORAL_TLS_SERVER_CA_CERT_PATH, or its host by TEMPORAL_TLS_SERVER_NAME`;
  const plain = await ask((done) => {
    const socket = connectPlain(place, () => socket.write('GET / HTTP/1.1\r\nhost: everthread\r\n\r\n'));
    return socket.once('data', (data) => done(data.toString('latin1', 0, 7)));
  });
  if (plain?.startsWith('HTTP/1.')) return 'a web server answers there, and not the gRPC of Temporal';
  if (plain !== undefined && tls)
    return 'it does not speak TLS: unset TEMPORAL_TLS… and TEMPORAL_API_KEY, which turn it on';
  return undefined;
}

function describeCertificate({ authorizationError }: TLSSocket): string {
  return authorizationError ? errorMessage(authorizationError) : '';
}

/** Resolves to what `open` reports, or to undefined if the connection fails, ends or is silent. */
function ask(open: (done: (answer: string) => void) => Socket): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = open(resolve);
  const end = () => resolve(undefined);
  socket.once('error', end).once('close', end).setTimeout(ANSWER_WITHIN_MS, end);
  return promise.finally(() => socket.destroy());
}
