/** What the requests of this process have shown of a model: for threads that have no report of their own, and windows that nobody declares. */
import type { ModelDefinition } from '../core/author/definition.ts';
import { capabilitiesOf } from './open-provider.ts';

interface Facts {
  /** Characters of a token. */
  ratio?: number;
  /** Tokens of its window, as a refusal has named it. */
  window?: number;
}

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

export function keepWindow(model: ModelDefinition, tokens: number): void {
  const facts = factsOf(model);
  facts.window = Math.min(tokens, facts.window ?? tokens);
}

/** Tokens of the model's window: as declared or reported, unless a refusal has named fewer. */
export function windowOf(model: ModelDefinition): number | undefined {
  const { window } = factsOf(model);
  const declared = capabilitiesOf(model).maxContextTokens;
  return window === undefined ? declared : Math.min(window, declared ?? window);
}
