/**
 * What a provider's factory receives (definitions §5.1): its key, its address and the settings that it declares in
 * `configSlots`.
 * - Each setting is a variable: of the thread, its user or the instance first, then of the worker's environment.
 * - A factory without `configSlots` asks for `apiKey` and `baseUrl`; a factory with empty `configSlots` asks for
 *   nothing.
 */
import type { ModelDefinition } from '../core/author/definition.ts';
import { ProviderError, type ProviderFactory } from '../core/message/provider.ts';
import type { ProviderConfigSlot, ProviderFactoryConfig } from '../core/message/provider-terms.ts';

/** The value of a variable; undefined if there is none. */
export type VariableLookup = (name: string) => string | undefined;

export interface ProviderSettings {
  readonly config: ProviderFactoryConfig;
  readonly secrets: readonly string[];
  /** Name of the variable that would hold the key; set if the factory asks for a key and none is known. */
  readonly missingKey?: string;
}

/** For a factory that reads its settings itself. */
export const NO_SLOTS: NonNullable<ProviderFactory['configSlots']> = {};

const DEFAULT_SLOTS: Readonly<Record<string, ProviderConfigSlot>> = {
  apiKey: { type: 'secret' },
  baseUrl: { type: 'url' },
};

interface NamedSlot {
  readonly name: string;
  readonly slot: ProviderConfigSlot;
  /** The variable that holds its value. */
  readonly variable: string;
}

const named = new WeakMap<ProviderFactory, readonly NamedSlot[]>();

/** Computed once for each factory: every request reads them. */
function slotsOf({ provider }: ModelDefinition): readonly NamedSlot[] {
  const known = named.get(provider);
  if (known) return known;
  const slots = Object.entries(provider.configSlots ?? DEFAULT_SLOTS).map(([name, slot]) => ({
    ...{ name, slot, variable: slot.defaultEnv ?? `${factoryName(provider)}_${toVariable(name)}` },
  }));
  named.set(provider, slots);
  return slots;
}

/** True if the factory asks for variables. Those of this package do not, so their settings cost no store read. */
export function asksForVariables(model: ModelDefinition): boolean {
  return slotsOf(model).length > 0;
}

/** Throws ProviderError 'invalid_request' if a required setting has no value. */
export function settingsFor(
  model: ModelDefinition,
  timeout: number,
  lookup: VariableLookup = () => undefined,
): ProviderSettings {
  if (!asksForVariables(model)) return { config: { apiKey: '', timeout }, secrets: [] };
  const found = slotsOf(model).map((each) => {
    const value = lookup(each.variable) || process.env[each.variable] || undefined;
    return { ...each, value: toValue(each.slot, value) };
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
  const message = `The provider of the model "${name}" lacks ${list}. ${describeHowToSet(missing[0]?.variable ?? '')}`;
  return new ProviderError(message, 'invalid_request');
}

/** A sentence that explains how to set a variable of a provider. */
export function describeHowToSet(variable: string): string {
  return `Set ${variable} with "everthread env set ${variable} --instance" (or --user ID, --thread ID), or in the worker's environment.`;
}

/**
 * Prefix of a factory's variables, from its name: OPEN_ROUTER for `openRouter`, `createOpenRouter` and
 * `openRouterProvider`; PROVIDER for an unnamed factory.
 */
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
