/**
 * Variables as the code of one thread sees them (definitions §16): read from the store anew at every use, since anybody
 * may set one meanwhile. The environment of this process is never among them.
 */

import type { PromptDefinition, Registry } from '../core/author/definition.ts';
import type { EnvType } from '../core/author/thread-env.ts';
import { findActiveSide } from '../core/project/active-side.ts';
import { declaredTypes, type EnvPlace, listSecrets, type Variable } from '../core/project/env.ts';
import { listRequirements, type Requirement } from '../core/project/env-requirement.ts';
import { isRuntimeError } from '../core/value/error.ts';
import type { ThreadRecord } from '../store/port/thread.ts';
import type { StateDependencies } from './dependencies.ts';
import { createRedactor, type Redact } from './redaction.ts';

type Sources = Pick<StateDependencies, 'store' | 'registry'>;

/** What definitions say of variables, worked out once for each project and agent. */
const types = new WeakMap<Registry, ReadonlyMap<string, EnvType>>();
const requirements = new WeakMap<Registry, Map<string, readonly Requirement[]>>();

export interface EnvReadOptions {
  /** The prompt that is active, where it is not the agent's own. */
  readonly prompt?: PromptDefinition;
  /** The tool that asks. */
  readonly tool?: string;
}

/** Throws `InvalidConfiguration` when a value cannot be decrypted. */
export async function readEnvPlace(
  { store, registry }: Sources,
  thread: ThreadRecord,
  { prompt, tool }: EnvReadOptions = {},
): Promise<EnvPlace> {
  const stored = await store.env.read(thread.id, thread.userId);
  return { ...definedEnvPlace(registry(), thread, prompt), stored, tool };
}

/** The place with what definitions give alone. */
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

/** Required variables of the agent's graph that the store must have, since no definition gives a value. */
export function requirementsOf(registry: Registry, agent: string): readonly Requirement[] {
  const known = requirements.get(registry) ?? new Map<string, readonly Requirement[]>();
  requirements.set(registry, known);
  const found = known.get(agent) ?? listRequirements(registry, agent);
  known.set(agent, found);
  return found;
}

/**
 * The redactor of this moment: every secret of the thread, and those that `also` has seen. Where they cannot be read,
 * nothing may pass: the text becomes the reason.
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
    return () => `[withheld, since secrets could not be taken out of it: ${error.message}]`;
  }
}
