/**
 * Variables as the code of one thread sees them (definitions §16): read from the store at every use, since they may
 * change at any time. The environment of this process is never included.
 */

import type { PromptDefinition } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import type { EnvType } from '../../core/author/thread-env.ts';
import { findActiveSide } from '../../core/project/active-side.ts';
import { declaredTypes, type EnvPlace, listSecrets, type Variable } from '../../core/project/env.ts';
import { listRequirements, type Requirement } from '../../core/project/env-requirement.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { createRedactor, type Redact } from '../../store/env/redaction.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { StateDependencies } from './dependencies.ts';

type Sources = Pick<StateDependencies, 'store' | 'registry'>;

/** Types of variables by project, and required variables by project and agent: computed once from the definitions. */
const types = new WeakMap<Registry, ReadonlyMap<string, EnvType>>();
const requirements = new WeakMap<Registry, Map<string, readonly Requirement[]>>();

export interface EnvReadOptions {
  /** The active prompt, if it is not that of the active side. */
  readonly prompt?: PromptDefinition;
  /** Name of the tool that reads variables. */
  readonly tool?: string;
}

/** Reads all sources of variables. Rejects with `InvalidConfiguration` if a value cannot be decrypted. */
export async function readEnvPlace(
  { store, registry }: Sources,
  thread: ThreadRecord,
  { prompt, tool }: EnvReadOptions = {},
): Promise<EnvPlace> {
  const stored = await store.env.read(thread.id, thread.userId);
  return { ...definedEnvPlace(registry(), thread, prompt), stored, tool };
}

/** Returns the sources in the definitions, without values from the store. */
export function definedEnvPlace(
  registry: Registry,
  { agent, session }: Pick<ThreadRecord, 'agent' | 'session'>,
  prompt?: PromptDefinition,
): EnvPlace {
  const active = findActiveSide(registry, agent, session.side);
  const known = types.get(registry) ?? declaredTypes(registry);
  types.set(registry, known);
  return { stored: [], types: known, agent: active?.agent, prompt: prompt ?? active?.prompt };
}

/** Returns the required variables of the agent's graph that need a value in the store: no definition has one. */
export function requirementsOf(registry: Registry, agent: string): readonly Requirement[] {
  const known = requirements.get(registry) ?? new Map<string, readonly Requirement[]>();
  requirements.set(registry, known);
  const found = known.get(agent) ?? listRequirements(registry, agent);
  known.set(agent, found);
  return found;
}

/**
 * Returns a redactor for the current secrets of the thread and those in `also`. If the secrets cannot be read, it
 * replaces every text by the reason.
 */
export async function readRedactor(
  sources: Sources,
  thread: ThreadRecord,
  also: readonly Variable[] = [],
): Promise<Redact> {
  try {
    return createRedactor([...also, ...listSecrets(await readEnvPlace(sources, thread))]);
  } catch (error) {
    if (!isRuntimeError(error, 'InvalidConfiguration')) throw error;
    return () => `[withheld: secrets could not be redacted: ${error.message}]`;
  }
}
