/** A proxy before a server, as in production: it ends TLS, and removes a path prefix. Closed after the test. */
import { request as httpRequest } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeCertificate } from './certificate.ts';
import { closeAfterTest } from './runtime.ts';

export type ForwardedHeaders = (asked: {
  readonly host: string;
  readonly prefix: string;
}) => Readonly<Record<string, string>>;

const PREFIX = '/everthread';

/** Returns the proxy's URL with its prefix. Clients of this process trust its certificate until the test is over. */
export async function tlsProxy(
  target: () => string,
  headersOf: ForwardedHeaders = () => ({}),
): Promise<string> {
  const certificate = makeCertificate();
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, certificate.cert]);
  const server = createServer(certificate, (incoming, outgoing) => {
    const { url = '/', method, headers } = incoming;
    if (!url.startsWith(`${PREFIX}/`)) {
      outgoing.writeHead(404).end('Not below the prefix.');
      return;
    }
    const sent = { ...headers, ...headersOf({ host: headers.host ?? '', prefix: PREFIX }) };
    const forward = httpRequest(
      target() + url.slice(PREFIX.length),
      { method, headers: { ...sent, host: 'inside.example' } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forward.on('error', () => outgoing.destroy());
    incoming.pipe(forward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(async () => {
    setDefaultCACertificates(before);
    server.close();
    server.closeAllConnections();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`;
}
