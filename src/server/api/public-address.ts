/**
 * The address under which a request reached the server from outside: behind a proxy, another one than the server's own.
 * It is put into the request once, at its entrance; everything absolute that an answer has is made of `addressOf`.
 * - Headers that forward an address count only if the peer that sent the request is a trusted proxy. A chain of
 *   proxies counts as far as it is trusted.
 * - A path prefix is removed by the proxy; the server knows it for its addresses only.
 */
import { BlockList, isIP } from 'node:net';
import { RuntimeError } from '../../core/value/error.ts';
import { hostOf } from './access.ts';

export interface PublicAddressOptions {
  /** Where clients reach the server, with a path prefix if there is one: `https://agents.example/everthread`. */
  readonly publicUrl?: string | undefined;
  /** IP addresses of proxies, or networks such as `10.0.0.0/8`, whose forwarded headers count; none unless given. */
  readonly trustedProxies?: readonly string[];
}

/** What the server knows of a connection beside its request. */
export interface RequestSource {
  /** IP address of the peer. */
  readonly peer?: string | undefined;
}

/** Carries the path prefix, behind the entrance; what a client sends under this name counts only from a proxy. */
const PREFIX = 'x-forwarded-prefix';
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d{1,5})?$/i;
const PATH = /^(\/[\w.~%-]+)+$/;

/** Returns a function that gives a request its public address. Throws `InvalidConfiguration`. */
export function givePublicAddress({ publicUrl, trustedProxies = [] }: PublicAddressOptions) {
  const known = publicUrl === undefined ? null : parsePublicUrl(publicUrl);
  const isTrusted = trustOf(trustedProxies);
  return (request: Request, { peer }: RequestSource = {}): Request => {
    const url = new URL(request.url);
    const told =
      known ?? (peer !== undefined && isTrusted(peer) ? forwarded(request.headers, isTrusted) : {});
    const { protocol = url.protocol, host = url.host, prefix = '' } = told;
    const isSame = protocol === url.protocol && host === url.host;
    if (isSame && prefix === (request.headers.get(PREFIX) ?? '')) return request;
    const headers = new Headers(request.headers);
    if (prefix === '') headers.delete(PREFIX);
    else headers.set(PREFIX, prefix);
    const { method, signal, body } = request;
    const given = { method, headers, signal, body, ...(body && { duplex: 'half' }) };
    return new Request(`${protocol}//${host}${url.pathname}${url.search}`, given as RequestInit);
  };
}

/** The public address of the server, without a slash at its end. */
export function addressOf(request: Request): string {
  return new URL(request.url).origin + prefixOf(request);
}

/** The path below which clients see the server: `/everthread`, or nothing. */
export function prefixOf({ headers }: Request): string {
  return headers.get(PREFIX) ?? '';
}

interface Told {
  readonly protocol?: string;
  readonly host?: string;
  readonly prefix?: string;
}

/** Parses `EVERTHREAD_PUBLIC_URL`. Throws `InvalidConfiguration`. */
function parsePublicUrl(text: string): Required<Told> {
  const url = URL.canParse(text) ? new URL(text) : null;
  const prefix = url?.pathname.replace(/\/+$/, '') ?? '';
  const isWeb = url !== null && /^https?:$/.test(url.protocol);
  if (isWeb && url.href === url.origin + url.pathname && (prefix === '' || PATH.test(prefix)))
    return { protocol: url.protocol, host: url.host, prefix };
  throw new RuntimeError(
    'InvalidConfiguration',
    `EVERTHREAD_PUBLIC_URL is "${text}": write http(s)://HOST[:PORT][/PATH], such as https://agents.example/everthread.`,
  );
}

/** Tells whether an address is one of a trusted proxy. Throws `InvalidConfiguration`. */
function trustOf(proxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = isIP(address);
    const most = family === 6 ? 128 : 32;
    if (family === 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)))
      throw new RuntimeError(
        'InvalidConfiguration',
        `EVERTHREAD_TRUSTED_PROXIES: "${proxy}" is no IP address and no network: write them like 10.0.0.7 or 10.0.0.0/8.`,
      );
    trusted.addSubnet(address, bits === undefined ? most : Number(bits), family === 6 ? 'ipv6' : 'ipv4');
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/** What the trusted proxies of the chain say, by `Forwarded` (RFC 7239) or by the older headers. */
function forwarded(headers: Headers, isTrusted: (address: string) => boolean): Told {
  const list = (name: string) => splitList(headers.get(`x-forwarded-${name}`) ?? '');
  const elements = splitList(headers.get('forwarded') ?? '');
  const values = (name: string) =>
    elements.length === 0 ? list(name) : elements.flatMap((element) => pairOf(element, name));
  const chain = values('for').map(toAddress);
  const untrusted = chain.findLastIndex((address) => !isTrusted(address));
  // Each proxy adds its value at the end: those before belong to whoever asked the first one that is trusted.
  const proxies = chain.length - untrusted;
  const told = (found: readonly string[]) => found.at(-Math.min(proxies, found.length));
  const [proto = '', host = '', prefix = ''] = [values('proto'), values('host'), list('prefix')].map(told);
  const path = prefix.replace(/\/+$/, '');
  return {
    ...(/^https?$/i.test(proto) && { protocol: `${proto.toLowerCase()}:` }),
    ...(HOST.test(host) && { host: host.toLowerCase() }),
    ...(PATH.test(path) && { prefix: path }),
  };
}

/** Splits at commas, but not within quotes. */
function splitList(text: string): string[] {
  return (text.match(/(?:"[^"]*"|[^,"])+/g) ?? []).map((part) => part.trim()).filter((part) => part !== '');
}

function pairOf(element: string, name: string): string[] {
  const [, quoted, plain] =
    new RegExp(`(?:^|;)\\s*${name}=(?:"([^"]*)"|([^;\\s]*))`, 'i').exec(element) ?? [];
  const value = quoted ?? plain;
  return value === undefined ? [] : [value];
}

/** `for` of a proxy: an address, which may have a port, and brackets if it is one of IPv6. */
function toAddress(text: string): string {
  return isIP(text) === 0 ? hostOf(text) : text;
}
