/**
 * What a provider's factory is given (definitions §5.1): its key, its address and the settings that it asks for in `configSlots`.
 * V1. Each is a variable: of the thread, its user or the instance first, then of the worker's environment.
 * V2. A factory without `configSlots` asks for `apiKey` and `baseUrl`; one with an empty list for nothing.
 */
import type { ModelDefinition } from '../core/author/definition.ts';
import { ProviderError, type ProviderFactory } from '../core/message/provider.ts';
import type { ProviderConfigSlot, ProviderFactoryConfig } from '../core/message/provider-terms.ts';

/** The value of a variable; undefined where there is none. */
export type VariableLookup = (name: string) => string | undefined;

export interface ProviderSettings {
  readonly config: ProviderFactoryConfig;
  readonly secrets: readonly string[];
  /** The variable that would have been the key, where the factory asks for one and none is known. */
  readonly missingKey?: string;
}

/** For a factory that reads its settings itself. */
export const NO_SLOTS: NonNullable<ProviderFactory['configSlots']> = {};

const USUAL_SLOTS: Readonly<Record<string, ProviderConfigSlot>> = {
  apiKey: { type: 'secret' },
  baseUrl: { type: 'url' },
};

const slotsOf = ({ provider }: ModelDefinition) => Object.entries(provider.configSlots ?? USUAL_SLOTS);

/** Whether the factory asks for variables at all: a project of ours costs no read. */
export function asksForVariables(model: ModelDefinition): boolean {
  return slotsOf(model).length > 0;
}

/** Throws ProviderError 'invalid_request' where a required setting has no value. */
export function settingsFor(
  model: ModelDefinition,
  timeout: number,
  lookup: VariableLookup = () => undefined,
): ProviderSettings {
  if (!asksForVariables(model)) return { config: { apiKey: '', timeout }, secrets: [] };
  const found = slotsOf(model).map(([name, slot]) => {
    const variable = slot.defaultEnv ?? `${factoryName(model.provider)}_${toVariable(name)}`;
    const value = lookup(variable) || process.env[variable] || undefined;
    return { name, slot, variable, value: toValue(slot, value) };
  });
  const missing = found.filter(({ slot, value }) => slot.required === true && value === undefined);
  if (missing.length > 0) throw missingSettings(model, missing);
  const given = found.filter(({ value }) => value !== undefined);
  const key = found.find(({ name, value }) => name === 'apiKey' && value === undefined);
  return {
    config: { apiKey: '', timeout, ...Object.fromEntries(given.map(({ name, value }) => [name, value])) },
    secrets: given.filter(({ slot }) => slot.type === 'secret').map(({ value }) => String(value)),
    ...(key ? { missingKey: key.variable } : {}),
  };
}

function toValue({ type, default: usual }: ProviderConfigSlot, value: string | undefined): unknown {
  if (value === undefined) return usual;
  return type === 'number' && Number.isFinite(Number(value)) ? Number(value) : value;
}

function missingSettings(
  { name }: ModelDefinition,
  missing: readonly { readonly name: string; readonly variable: string }[],
): ProviderError {
  const list = missing.map((each) => `"${each.name}" (${each.variable})`).join(', ');
  const message = `The provider of the model "${name}" lacks ${list}. ${howToSet(missing[0]?.variable ?? '')}`;
  return new ProviderError(message, 'invalid_request');
}

/** The sentence that tells how a provider gets a setting. */
export function howToSet(variable: string): string {
  return `Set ${variable} with "everthread env set ${variable} --instance" (or --user ID, --thread ID), or in the worker's environment.`;
}

/** `openRouter`, `createOpenRouter` and `openRouterProvider` are OPEN_ROUTER; a factory without a name of its own is PROVIDER. */
function factoryName({ name }: ProviderFactory): string {
  const bare = name.replace(/^(?:create|make)(?=[A-Z])/, '').replace(/(?<=.)(?:Provider)?(?:Factory)?$/, '');
  return toVariable(bare === '' || bare === 'default' ? 'provider' : bare);
}

function toVariable(name: string): string {
  return name
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase();
}
