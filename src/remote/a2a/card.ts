/**
 * An agent's card. Only its address, binding, tenant and streaming capability are used; its descriptions are untrusted
 * and never become part of a prompt.
 * D1. A card may lead only to the origin of the agent's configured URL, or to one listed in `origins`.
 */
import type { A2aAgentDefinition } from '../../core/author/a2a-agent.ts';
import { quote, walledFetch } from '../wall/index.ts';
import { A2aFailure } from './failure.ts';
import { A2A_LIMITS } from './limit.ts';
import { toWallFault, withinTimeout } from './request.ts';

/** Where an agent is reached. A call keeps the endpoint that it began with, even if the card changes. */
export interface A2aEndpoint {
  readonly url: string;
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
  /** True if the agent's tasks can be subscribed to. */
  readonly streams: boolean;
  readonly tenant: string;
}

export type Reach = Pick<A2aAgentDefinition, 'url' | 'headers' | 'origins' | 'requestTimeoutMs'>;

const CARD_PATH = '.well-known/agent-card.json';
const BINDINGS = ['JSONRPC', 'HTTP+JSON'] as const;

/** Returns the allowed origins: that of the card's address, and those in `origins`. */
export function originsOf({ url, origins }: Pick<Reach, 'url' | 'origins'>): ReadonlySet<string> {
  return new Set([url, ...origins].map((each) => new URL(each).origin));
}

/** Fetches the card and chooses an interface. Rejects with an A2aFailure, or with the signal's reason. */
export async function readCard(reach: Reach, signal: AbortSignal): Promise<A2aEndpoint> {
  const { url, headers, requestTimeoutMs } = reach;
  const address = url.endsWith('.json')
    ? new URL(url)
    : new URL(CARD_PATH, url.endsWith('/') ? url : `${url}/`);
  const ask = walledFetch({
    allows: ({ origin }) => origin === address.origin,
    maxBytes: A2A_LIMITS.cardBytes,
    fault: toWallFault,
  });
  return withinTimeout({ signal, timeoutMs: requestTimeoutMs }, async (own) => {
    const response = await ask(address, {
      headers: { ...headers, accept: 'application/json' },
      signal: own,
    });
    const text = await response.text();
    if (!response.ok)
      throw new A2aFailure(
        response.status >= 500 || response.status === 429 ? 'A2aUnavailable' : 'A2aRefused',
        `The request for its card was answered with status ${response.status}.`,
        { unsent: true },
      );
    return toEndpoint(parse(text), reach);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new A2aFailure('A2aInvalid', `Its card is not valid JSON: ${quote(text, 100)}`);
  }
}

interface Interface {
  readonly url?: unknown;
  readonly protocolBinding?: unknown;
  readonly protocolVersion?: unknown;
  readonly tenant?: unknown;
}

function toEndpoint(card: unknown, reach: Reach): A2aEndpoint {
  const { supportedInterfaces, capabilities } = (card ?? {}) as Readonly<Record<string, unknown>>;
  const interfaces: readonly Interface[] = Array.isArray(supportedInterfaces)
    ? supportedInterfaces.slice(0, 50)
    : [];
  const spoken = interfaces.filter(
    ({ protocolBinding, protocolVersion }) =>
      BINDINGS.some((each) => each === protocolBinding) && /^1\.\d/.test(String(protocolVersion)),
  );
  if (spoken.length === 0)
    throw new A2aFailure(
      'A2aInvalid',
      'Its card lists no A2A 1.0 interface over JSONRPC or HTTP+JSON: no other is supported.',
    );
  const known = originsOf(reach);
  const found = spoken.find(({ url }) => known.has(originIn(url)));
  // D1: no interface of the card is at an allowed origin.
  if (!found)
    throw new A2aFailure(
      'A2aRedirect',
      `Its card points to ${quote(originIn(spoken[0]?.url), 200)}, which is not allowed: add it to "origins".`,
    );
  return {
    url: String(found.url).replace(/\/+$/, ''),
    binding: found.protocolBinding as A2aEndpoint['binding'],
    streams: (capabilities as { streaming?: unknown } | undefined)?.streaming === true,
    tenant: typeof found.tenant === 'string' ? found.tenant.slice(0, A2A_LIMITS.idChars) : '',
  };
}

function originIn(url: unknown): string {
  try {
    return new URL(String(url)).origin;
  } catch {
    return 'nowhere';
  }
}
