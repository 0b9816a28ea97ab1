/**
 * Variables (definitions §3, §16): which names and values are valid, where a value comes from, and which type it has. Pure.
 * V1. Sources in order: thread, user, instance, agent, the tool's entry in the prompt (inside that tool alone), prompt.
 *     The empty string is a value.
 * - A stored value has the type that it was stored with. A value in a definition has the type that a definition of the project
 *   declares; an `env` part of a prompt and a hint of an immediate subagent count as a declaration as text, since they show the
 *   value. A variable without a declaration is secret (§22 item 35). Where declarations disagree, secret wins.
 * V3. Variables that an immediate child has from its parent are withheld from prompts (runtime §7.4), its own and those
 *     of its children, unless the entry promotes them by `nameEnv` or `descriptionEnv`. Code reads them like any
 *     others.
 */
import type { AgentDefinition, PromptDefinition } from '../author/definition.ts';
import type { Registry } from '../author/registry.ts';
import type { EnvType } from '../author/thread-env.ts';
import { LIMITS, utf8Length } from '../value/limit.ts';

/** One value from the store, as a thread sees it. */
export interface StoredVariable {
  readonly scope: 'thread' | 'user' | 'instance';
  readonly name: string;
  readonly type: EnvType;
  readonly value: string;
  /** V3: withheld from prompts. */
  readonly withheld?: true;
}

export interface Variable {
  readonly name: string;
  readonly type: EnvType;
  readonly value: string;
  /** V3: withheld from prompts. */
  readonly withheld?: true;
}

/** Where a variable is read, with its sources. A worker that does not know the agent sees only the store's values. */
export interface EnvPlace {
  readonly stored: readonly StoredVariable[];
  readonly types: ReadonlyMap<string, EnvType>;
  readonly agent?: AgentDefinition;
  readonly prompt?: PromptDefinition;
  /** The tool that is running. */
  readonly tool?: string;
}

const SCOPES = ['thread', 'user', 'instance'] as const;

/** Applies V1; undefined if no source has the variable. */
export function resolveVariable(name: string, place: EnvPlace): Variable | undefined {
  for (const scope of SCOPES) {
    const found = place.stored.find((each) => each.scope === scope && each.name === name);
    if (!found) continue;
    const { type, value, withheld } = found;
    return { name, type, value, ...(withheld && { withheld }) };
  }
  const { agent, prompt, tool } = place;
  const entry = prompt?.tools.find((each) => tool !== undefined && each.name === tool);
  const source = [agent?.env, entry?.env, prompt?.env].find((env) => env && Object.hasOwn(env, name));
  if (!source) return undefined;
  return { name, type: place.types.get(name) ?? 'secret', value: source[name] as string };
}

/** Every secret that this thread's code may have read, from every source. */
export function listSecrets({ stored, types, agent, prompt }: EnvPlace): Variable[] {
  const written = [agent?.env, prompt?.env, ...(prompt?.tools.map(({ env }) => env) ?? [])].flatMap((env) =>
    Object.entries(env ?? {}).map(([name, value]) => ({ name, type: types.get(name) ?? 'secret', value })),
  );
  return [...stored, ...written].filter(({ type }) => type === 'secret');
}

/** The types of variables according to the definitions of a project. */
export function declaredTypes(registry: Registry): ReadonlyMap<string, EnvType> {
  const { agents, prompts, tools } = registry;
  const shown = [...prompts.values()].flatMap(listShown).map((name) => ({ name, type: 'text' as const }));
  const declared = [...agents.values(), ...prompts.values(), ...tools.values()].flatMap(
    ({ variables }) => variables,
  );
  const types = new Map<string, EnvType>();
  for (const { name, type } of [...shown, ...declared]) {
    if (types.get(name) !== 'secret') types.set(name, type);
  }
  return types;
}

/** Variables that prompt parts show, or that immediate subagents name (runtime §7.4). */
function listShown({ prompt, tools }: PromptDefinition): string[] {
  const parts = prompt.flatMap((part) => (part.type === 'env' ? [part.property] : []));
  const hints = tools.flatMap(({ extra }) => {
    const { nameEnv, descriptionEnv } = (extra.immediate || {}) as Partial<Record<string, string>>;
    return [nameEnv, descriptionEnv].filter((name) => name !== undefined);
  });
  return [...parts, ...hints];
}

const NAME = /^[A-Za-z_][\w.:/-]*$/;

/** Returns why this cannot be stored as a variable; undefined if it can. The reason never contains the value. */
export function variableProblem(name: unknown, value: unknown, type: unknown): string | undefined {
  if (typeof name !== 'string' || name.length > LIMITS.envNameChars || !NAME.test(name)) {
    const shown = typeof name === 'string' ? JSON.stringify(name) : `A ${typeof name}`;
    return `${shown} is not a valid variable name: use only letters, digits and _ . : / -, starting with a letter or _, at most ${LIMITS.envNameChars} characters.`;
  }
  if (typeof value !== 'string' || !value.isWellFormed()) return `The value of "${name}" must be a string.`;
  if (utf8Length(value) > LIMITS.envValueBytes) {
    return `The value of "${name}" has ${utf8Length(value)} bytes; the maximum is ${LIMITS.envValueBytes}.`;
  }
  if (type !== undefined && type !== 'text' && type !== 'secret') {
    return `The type of "${name}" must be "text" or "secret".`;
  }
  return undefined;
}
