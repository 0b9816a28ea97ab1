/**
 * Prepares a provider before a request (definitions §5.1): creates it, checks its shape, and asks it about its model.
 * - One provider is kept for each model and configuration: a provider holds a connection pool.
 * - A provider is asked about a model once. If that fails, the definition alone counts, and the next request asks
 *   again.
 */
import type { ModelDefinition } from '../core/author/definition.ts';
import { type Provider, ProviderError } from '../core/message/provider.ts';
import type { ProviderModelCapabilities, ProviderOwnTool } from '../core/message/provider-terms.ts';
import { invalidAnswer } from './answer-failure.ts';
import type { ProviderSettings } from './provider-config.ts';
import type { StallGuard } from './stall-guard.ts';

export type ProviderTools = Readonly<Record<string, ProviderOwnTool>>;

export interface OpenedProvider {
  readonly provider: Provider;
  /** The model, completed with the capabilities that its definition leaves open and its provider reports. */
  readonly model: ModelDefinition;
  /** Tools that the provider runs itself, by name. */
  readonly tools: ProviderTools;
}

/**
 * Throws what the factory throws; 'InvalidAnswer' if it returns no provider; 'invalid_request' if the provider does not
 * know the model.
 */
export async function openProvider(
  model: ModelDefinition,
  settings: ProviderSettings,
  guard: StallGuard,
): Promise<OpenedProvider> {
  const provider = providerOf(model, settings);
  const { isKnown, capabilities, tools } = await factsOf(provider, model.model, guard);
  if (!isKnown) {
    throw new ProviderError(
      `The provider "${provider.name}" does not know the model "${model.model}" of "${model.name}".`,
      'invalid_request',
    );
  }
  reportedCapabilities.set(model, capabilities);
  return { provider, tools, model: { ...model, capabilities: capabilitiesOf(model) } };
}

const reportedCapabilities = new WeakMap<ModelDefinition, ProviderModelCapabilities>();

/** Capabilities of the definition, which override those that the provider has reported to this process. */
export function capabilitiesOf(model: ModelDefinition): ModelDefinition['capabilities'] {
  return { ...reportedCapabilities.get(model), ...model.capabilities };
}

const providers = new WeakMap<ModelDefinition, Map<string, Provider>>();
/** Maximum number of configurations kept per model: users may have their own keys. */
const MAX_KEPT_PROVIDERS = 16;

/** Throws what the factory throws; the next call tries again. */
export function providerOf(model: ModelDefinition, { config }: ProviderSettings): Provider {
  const made = providers.get(model) ?? new Map<string, Provider>();
  providers.set(model, made);
  const key = JSON.stringify(config);
  const known = made.get(key);
  if (known !== undefined) return known;
  const provider: unknown = model.provider(config);
  if (!isProvider(provider)) {
    throw invalidAnswer(
      `The factory of the model "${model.name}" did not return a provider (an object with stream() and generate())`,
    );
  }
  if (made.size >= MAX_KEPT_PROVIDERS) made.delete(made.keys().next().value as string);
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
/** Milliseconds for all questions about one model together. */
const FACTS_MS = 10_000;

async function factsOf(provider: Provider, modelId: string, guard: StallGuard): Promise<Facts> {
  const { supportsModel, getModelCapabilities, getTools } = provider;
  if (!(supportsModel || getModelCapabilities || getTools)) return NO_FACTS;
  const known = facts.get(provider) ?? new Map<string, Facts>();
  facts.set(provider, known);
  const cached = known.get(modelId);
  if (cached !== undefined) return cached;
  try {
    const asked = await guard.race(askFacts(provider, modelId), FACTS_MS, 'information about the model');
    known.set(modelId, asked);
    return asked;
  } catch {
    // The failure is not remembered. The caller checks for an abort.
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

/** Keeps the fields that have the right type; all others count as not reported. */
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
