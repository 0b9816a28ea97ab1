/** `defineModel` (definitions §4): the fields of a model, with their defaults and checks. */
import { z } from 'zod';
import type { ModelDefinition } from '../core/author/definition.ts';
import type { ProviderFactory } from '../core/message/provider.ts';
import { LIMITS } from '../core/value/limit.ts';
import { checkFields, type FieldTable, isFields, type RawFields } from './check.ts';
import { markDefinition } from './definition-mark.ts';
import { count, custom, flag, isGiven, names, options, price, text } from './field.ts';
import type { ModelInput } from './model-input.ts';
import { checkProviderOptions } from './provider-option.ts';

const isLevel = (key: string) => /^\d+$/.test(key) && Number(key) <= 100;

const reasoningLevels = z.record(z.string(), z.string().nullable()).check((context) => {
  for (const key of Object.keys(context.value).filter((level) => !isLevel(level))) {
    context.issues.push({
      code: 'custom',
      input: key,
      path: [key],
      message: 'is not a level: levels are whole numbers from 0 to 100',
    });
  }
});

const capabilities = z
  .strictObject({
    reasoningLevels: reasoningLevels.optional(),
    supportsImages: flag.optional(),
    supportsToolCalls: flag.optional(),
    supportsStreaming: flag.optional(),
    supportsJsonMode: flag.optional(),
    maxContextTokens: count.optional(),
    maxOutputTokens: count.optional(),
    vision: flag.optional(),
    functionCalling: flag.optional(),
    structuredOutputs: flag.optional(),
  })
  .transform(({ vision, functionCalling, structuredOutputs, ...fields }) => ({
    ...fields,
    supportsImages: fields.supportsImages ?? vision,
    supportsToolCalls: fields.supportsToolCalls ?? functionCalling,
    supportsJsonMode: fields.supportsJsonMode ?? structuredOutputs,
  }));

const seconds = z
  .number()
  .positive()
  .max(LIMITS.modelTimeoutSeconds, { error: `must be ${LIMITS.modelTimeoutSeconds} (a day) or less` });

const timeouts = z.strictObject({
  firstChunkSeconds: seconds.optional(),
  idleSeconds: seconds.optional(),
  totalSeconds: seconds.optional(),
  plainSeconds: seconds.optional(),
  feedbackSeconds: seconds.optional(),
});

const model = z.strictObject({
  name: text,
  provider: custom<ProviderFactory>(
    (value) => typeof value === 'function',
    "must be a provider factory (a function), such as those from 'everthread/models'",
  ),
  model: text,
  fallbacks: names.default([]),
  includedProviders: names.default([]),
  inputPrice: price.optional(),
  outputPrice: price.optional(),
  cachedPrice: price.optional(),
  cacheWritePrice: price.optional(),
  cacheWrite1hPrice: price.optional(),
  capabilities: capabilities.prefault({}),
  providerOptions: options.default({}),
  providerTools: names.default([]),
  timeouts: timeouts.optional(),
  concurrency: count.optional(),
});

/** Capabilities with their names before 0.1.0. */
const OLD_CAPABILITIES = [
  ['supportsImages', 'vision'],
  ['supportsToolCalls', 'functionCalling'],
  ['supportsJsonMode', 'structuredOutputs'],
] as const;

const hasCapability = (input: RawFields, name: string) =>
  isFields(input.capabilities) && isGiven(input.capabilities[name]);

const MODEL: FieldTable<typeof model, ModelInput> = {
  what: 'defineModel',
  fields: model,
  rules: [
    {
      field: 'fallbacks',
      message: 'names the model itself',
      holds: ({ name, fallbacks }) => Array.isArray(fallbacks) && fallbacks.includes(name),
    },
  ],
  warnings: OLD_CAPABILITIES.map(([field, old]) => ({
    field: `capabilities.${old}`,
    message: `is deprecated: use ${field}`,
    holds: (input) => hasCapability(input, old),
  })),
  hints: { apiKey: 'keys are configured in the provider: see its documentation' },
  more: ({ provider, providerOptions }) =>
    isGiven(providerOptions) ? checkProviderOptions(provider, providerOptions) : [],
};

/**
 * Defines a model; the default export of a file in `agents/models/`.
 * Throws an `InvalidDefinitions` error that lists every problem, including those of `providerOptions`.
 * @example
 * ```ts
 * export default defineModel({
 *   name: 'main',
 *   provider: openaiCompatible(),
 *   model: 'gpt-5-mini',
 *   fallbacks: ['spare'],
 * });
 * ```
 */
export function defineModel(input: ModelInput): ModelDefinition {
  const { fields, warnings } = checkFields(MODEL, input);
  const definition: ModelDefinition = { ...fields, kind: 'model' };
  return markDefinition(definition, warnings, input);
}
