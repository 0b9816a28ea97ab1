/**
 * A provider before it is asked (definitions §5.1): made, checked to be one, and heard on what its model can do.
 * P1. One is kept for each model and configuration: a provider holds a connection pool.
 * P2. What it tells of a model is asked once. Where it fails at that, the definition alone counts, and it is asked again later.
 */
import type { ModelDefinition } from '../core/author/definition.ts';
import { type Provider, ProviderError } from '../core/message/provider.ts';
import type { ProviderModelCapabilities, ProviderOwnTool } from '../core/message/provider-terms.ts';
import { invalidAnswer } from './answer-failure.ts';
import type { ProviderSettings } from './provider-config.ts';
import type { StallGuard } from './stall-guard.ts';

export type ProviderTools = Readonly<Record<string, ProviderOwnTool>>;

export interface MetProvider {
  readonly provider: Provider;
  /** With the capabilities that its definition leaves open. */
  readonly model: ModelDefinition;
  /** What the provider runs itself, by name. */
  readonly tools: ProviderTools;
}

/** Throws what the factory throws; 'InvalidAnswer' for what is no provider; 'invalid_request' for a model that it does not know. */
export async function meetProvider(
  model: ModelDefinition,
  settings: ProviderSettings,
  guard: StallGuard,
): Promise<MetProvider> {
  const provider = providerOf(model, settings);
  const { isKnown, capabilities, tools } = await factsOf(provider, model.model, guard);
  if (!isKnown) {
    throw new ProviderError(
      `The provider "${provider.name}" does not know the model "${model.model}" of "${model.name}".`,
      'invalid_request',
    );
  }
  learned.set(model, capabilities);
  return { provider, tools, model: { ...model, capabilities: capabilitiesOf(model) } };
}

const learned = new WeakMap<ModelDefinition, ProviderModelCapabilities>();

/** Those of the definition, over those that the provider has told in this process. */
export function capabilitiesOf(model: ModelDefinition): ModelDefinition['capabilities'] {
  return { ...learned.get(model), ...model.capabilities };
}

const providers = new WeakMap<ModelDefinition, Map<string, Provider>>();
/** Configurations of one model that are kept: users may have keys of their own. */
const KEPT = 16;

/** Throws what the factory throws; the next call tries again. */
function providerOf(model: ModelDefinition, { config }: ProviderSettings): Provider {
  const made = providers.get(model) ?? new Map<string, Provider>();
  providers.set(model, made);
  const key = JSON.stringify(config);
  const known = made.get(key);
  if (known !== undefined) return known;
  const provider: unknown = model.provider(config);
  if (!isProvider(provider)) {
    throw invalidAnswer(
      `The factory of the model "${model.name}" made no provider: an object with stream() and generate()`,
    );
  }
  if (made.size >= KEPT) made.delete(made.keys().next().value as string);
  made.set(key, provider);
  return provider;
}

function isProvider(value: unknown): value is Provider {
  const { stream, generate } = (value ?? {}) as Partial<Provider>;
  return typeof stream === 'function' && typeof generate === 'function';
}

interface Facts {
  readonly isKnown: boolean;
  readonly capabilities: ProviderModelCapabilities;
  readonly tools: ProviderTools;
}

const NO_FACTS: Facts = { isKnown: true, capabilities: {}, tools: {} };
const facts = new WeakMap<Provider, Map<string, Facts>>();
/** For all questions about one model. */
const FACTS_MS = 10_000;

async function factsOf(provider: Provider, modelId: string, guard: StallGuard): Promise<Facts> {
  const { supportsModel, getModelCapabilities, getTools } = provider;
  if (!(supportsModel || getModelCapabilities || getTools)) return NO_FACTS;
  const known = facts.get(provider) ?? new Map<string, Facts>();
  facts.set(provider, known);
  const told = known.get(modelId);
  if (told !== undefined) return told;
  try {
    const asked = await guard.race(askFacts(provider, modelId), FACTS_MS, 'word on the model');
    known.set(modelId, asked);
    return asked;
  } catch {
    // P2. An abort is thrown by what follows.
    return NO_FACTS;
  }
}

async function askFacts(provider: Provider, modelId: string): Promise<Facts> {
  const isKnown = (await provider.supportsModel?.(modelId)) !== false;
  const capabilities = isKnown ? toCapabilities(await provider.getModelCapabilities?.(modelId)) : {};
  const tools: unknown = isKnown ? await provider.getTools?.(modelId) : {};
  return { isKnown, capabilities, tools: isObject(tools) ? (tools as ProviderTools) : {} };
}

const FLAGS = ['supportsImages', 'supportsToolCalls', 'supportsStreaming', 'supportsJsonMode'] as const;
const COUNTS = ['maxContextTokens', 'maxOutputTokens'] as const;

/** What is of another type is not told. */
function toCapabilities(value: unknown): ProviderModelCapabilities {
  if (!isObject(value)) return {};
  const flags = FLAGS.filter((name) => typeof value[name] === 'boolean');
  const counts = COUNTS.filter((name) => Number.isInteger(value[name]) && Number(value[name]) > 0);
  const { reasoningLevels } = value;
  return {
    ...Object.fromEntries([...flags, ...counts].map((name) => [name, value[name]])),
    ...(isObject(reasoningLevels) && Object.values(reasoningLevels).every(isLevel)
      ? { reasoningLevels: reasoningLevels as ProviderModelCapabilities['reasoningLevels'] }
      : {}),
  };
}

function isLevel(value: unknown): boolean {
  return typeof value === 'string' || value === null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
