/** What the requests of this process have shown of a model: for threads that have no report of their own, and windows that nobody declares. */
import type { ModelDefinition } from '../core/author/definition.ts';
import { capabilitiesOf } from './open-provider.ts';

interface Facts {
  /** Characters of a token. */
  ratio?: number;
  /** Tokens of its window, as a refusal has named it, and until when that counts (`performance.now()`). */
  window?: { readonly tokens: number; readonly until: number };
}

/**
 * Milliseconds for which a window that a refusal has named counts: a gateway may have sent one request to a smaller
 * model. After that, the next request that is too long is refused again.
 */
const WINDOW_MS = 10 * 60_000;

/** By factory and the provider's id of the model: a request has a copy of its definition. */
const learned = new WeakMap<ModelDefinition['provider'], Map<string, Facts>>();

function factsOf({ provider, model }: ModelDefinition): Facts {
  const known = learned.get(provider) ?? new Map<string, Facts>();
  learned.set(provider, known);
  const facts = known.get(model) ?? {};
  known.set(model, facts);
  return facts;
}

export function learnedRatio(model: ModelDefinition): number | undefined {
  return factsOf(model).ratio;
}

export function keepRatio(model: ModelDefinition, ratio: number): void {
  factsOf(model).ratio = ratio;
}

export function keepWindow(model: ModelDefinition, tokens: number, now = performance.now()): void {
  const known = namedWindow(model, now) ?? tokens;
  factsOf(model).window = { tokens: Math.min(tokens, known), until: now + WINDOW_MS };
}

/** A provider that has counted more tokens than that, and answered, has the window no longer. */
export function forgetWindow(model: ModelDefinition, counted: number): void {
  if (counted > (factsOf(model).window?.tokens ?? counted)) delete factsOf(model).window;
}

function namedWindow(model: ModelDefinition, now: number): number | undefined {
  const { window } = factsOf(model);
  return window && window.until > now ? window.tokens : undefined;
}

/** Tokens of the model's window: as declared or reported, unless a refusal has named fewer. */
export function windowOf(model: ModelDefinition, now = performance.now()): number | undefined {
  const window = namedWindow(model, now);
  const declared = capabilitiesOf(model).maxContextTokens;
  return window === undefined ? declared : Math.min(window, declared ?? window);
}
