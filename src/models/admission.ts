/**
 * When a request may be sent to a model, as the worker's rate limiter decides, and what happens if it may not.
 * A1. A request that has to wait longer than its activity may stay is not sent: the activity is left, and asks again.
 * - The time of a model (attempt-plan.ts, P4) counts from its first request for this answer, or from the last request
 *   of anybody that its provider has accepted, or answered: those who only stand in line do not lose it.
 * - With another model left, nobody waits for longer than LONG_WAIT_MS for a provider that refuses.
 */
import { hash } from 'node:crypto';
import type { ModelDefinition } from '../core/author/definition.ts';
import type { HoldCause } from '../core/event/cause.ts';
import { pauseAfter } from '../core/governance/pace.ts';
import { type Provider, ProviderError, type ProviderFactory } from '../core/message/provider.ts';
import { providerOf } from './open-provider.ts';
import { type ProviderSettings, settingsFor, type VariableLookup } from './provider-config.ts';
import type { Lease, RateLimiter } from './rate-limiter.ts';
import { refusalOf } from './refusal.ts';
import { LONG_WAIT_MS } from './refusal-plan.ts';

/** Milliseconds that an activity may wait for its turn. */
export const STAY_MS = 5000;

export interface AskingModel {
  readonly model: ModelDefinition;
  /** Request timeout for the provider, in milliseconds. */
  readonly timeoutMs: number;
  readonly variable?: VariableLookup;
  readonly modelsLeft: number;
  /** When this model was first asked for the answer, in milliseconds since 1970. */
  readonly since: number;
  /** Milliseconds since then. */
  readonly waitedMs: number;
  /** Milliseconds that all attempts at the model may take. */
  readonly patienceMs: number;
  /** True if the request is already recorded: it is sent at once. */
  readonly urgent: boolean;
  readonly signal: AbortSignal;
}

export interface Place {
  readonly limiter: RateLimiter;
  readonly ticket: string;
  readonly stayMs?: number;
}

export type Turn =
  | { readonly kind: 'now'; readonly leftMs: number; readonly lease?: Lease }
  /** `later`: A1. `over`: the model's time is over, or another model is asked instead. */
  | {
      readonly kind: 'later';
      readonly error: ProviderError;
      readonly pauseMs: number;
      readonly by: HoldCause;
    }
  | { readonly kind: 'over'; readonly error: ProviderError };

export async function takeTurn(place: Place | undefined, asking: AskingModel): Promise<Turn> {
  const { model, modelsLeft, since, waitedMs, patienceMs, urgent, signal } = asking;
  const line = place && lineOf(asking);
  if (!line) return { kind: 'now', leftMs: patienceMs - waitedMs };
  const { limiter, ticket, stayMs = STAY_MS } = place;
  const { name, concurrency } = model;
  const entered = await limiter.enter({
    line,
    model: name,
    ticket,
    since,
    concurrency,
    urgent,
    signal,
    maxWaitMs: stayMs,
  });
  const leftMs = patienceMs - Math.min(waitedMs, entered.acceptedAgoMs);
  if (entered.kind === 'admitted') return { kind: 'now', leftMs, lease: entered.lease };
  const { pauseMs, refused } = entered;
  const isLong = modelsLeft > 0 && Math.max(waitedMs, pauseMs) > LONG_WAIT_MS;
  // A line that only the definition's own limit makes is waited for.
  const isOver = refused && (isLong || pauseMs >= leftMs);
  const error = toHeld(name, waitedMs);
  const by = refused ? 'refusals' : 'concurrency';
  return isOver ? { kind: 'over', error } : { kind: 'later', error, pauseMs, by };
}

/**
 * Milliseconds until the model may be asked again; undefined unless its provider is busy. `refusals`: earlier ones of
 * the same answer.
 */
export function noteRefusal(
  error: ProviderError,
  { lease }: Extract<Turn, { kind: 'now' }>,
  refusals: number,
): number | undefined {
  if (refusalOf(error) !== 'busy') return undefined;
  const retryAfterMs = error.retryAfter === undefined ? undefined : error.retryAfter * 1000;
  const heldMs = lease?.refused(retryAfterMs);
  const ownMs = pauseAfter(refusals + 1, { retryAfterMs, random: Math.random() });
  // What the provider asks for beyond the longest hold counts too.
  return Math.max(heldMs ?? ownMs, retryAfterMs ?? 0);
}

function toHeld(name: string, waitedMs: number): ProviderError {
  const waited = waitedMs >= 1000 ? `, and this one has waited ${Math.round(waitedMs / 1000)} s` : '';
  return new ProviderError(
    `The provider of the model "${name}" has refused earlier requests${waited}. Raise its limit there, or set another model as a fallback.`,
    'rate_limit',
  );
}

/** Undefined if the provider cannot be made: the attempt then fails, and says why. */
function lineOf({ model, timeoutMs, variable }: AskingModel): string | undefined {
  try {
    const settings = settingsFor(model, timeoutMs, variable);
    const provider = providerOf(model, settings);
    const scope = provider.rateScope ?? scopes.get(provider) ?? toScope(model, settings);
    scopes.set(provider, scope);
    return `${scope} ${model.model}`;
  } catch {
    return undefined;
  }
}

const scopes = new WeakMap<Provider, string>();

/** For a provider that does not say what its limits count by: its factory and its settings. */
function toScope(
  { provider }: ModelDefinition,
  { config: { timeout: _, ...config } }: ProviderSettings,
): string {
  return `${idOf(provider)} ${digest(JSON.stringify(config))}`;
}

/** What limits of an endpoint count by: the address and the digest of the key. */
export function toRateScope(baseUrl: string, apiKey = ''): string {
  return `${baseUrl} ${digest(apiKey)}`;
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

const ids = new WeakMap<ProviderFactory, number>();
let lastId = 0;

function idOf(factory: ProviderFactory): number {
  const known = ids.get(factory);
  if (known !== undefined) return known;
  lastId += 1;
  ids.set(factory, lastId);
  return lastId;
}
