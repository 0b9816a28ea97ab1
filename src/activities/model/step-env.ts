/**
 * Resolves variables before a model is asked (definitions §3, §6.2).
 * - Required variables are checked before an execution begins. If one goes missing later, the tool that needs it
 *   reports that to the model.
 * - A model never gets a secret, nor a value withheld from prompts (core/project/env.ts, V3). An `env` part shows the
 *   name instead.
 * - A project that uses neither required variables nor variables in prompts costs no read.
 */

import { definedEnvPlace, readEnvPlace, requirementsOf } from '../../author/state/env-place.ts';
import { readScratch } from '../../author/tool/scratch.ts';
import type { PromptDefinition } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import { ProviderError } from '../../core/message/provider.ts';
import { findActiveSide } from '../../core/project/active-side.ts';
import { resolveVariable } from '../../core/project/env.ts';
import type { Requirement } from '../../core/project/env-requirement.ts';
import { listSubagents } from '../../core/project/subagent.ts';
import type { StoredError } from '../../core/thread/step.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import type { VariableLookup } from '../../models/provider-config.ts';
import type { StepPlace } from '../../store/step/step-place-record.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';

export type StepEnv =
  | { readonly ok: true; readonly show: (name: string) => string }
  | { readonly ok: false; readonly error: StoredError };

type Sources = Pick<ActivityDependencies, 'store' | 'registry'>;

/**
 * `begun`: true if the execution is already under way. `prompt`: the prompt to render; the agent's own if absent.
 */
export async function readStepEnv(
  sources: Sources,
  thread: ThreadRecord,
  {
    begun,
    prompt = findActiveSide(sources.registry(), thread.agent, thread.session.side)?.prompt,
  }: { readonly begun: boolean; readonly prompt?: PromptDefinition },
): Promise<StepEnv> {
  const registry = sources.registry();
  const required = begun ? [] : requirementsOf(registry, thread.agent);
  try {
    const place = needsVariables(registry, thread, { begun, prompt })
      ? await readEnvPlace(sources, thread, { prompt })
      : definedEnvPlace(registry, thread, prompt);
    const absent = required.filter(({ name }) => place.stored.every((each) => each.name !== name));
    if (absent.length > 0) return { ok: false, error: missingVariables(thread, absent) };
    return {
      ok: true,
      show(name) {
        const variable = resolveVariable(name, place);
        if (variable?.type === 'secret') return `[secret ${name}]`;
        return variable?.withheld ? `[withheld ${name}]` : (variable?.value ?? '');
      },
    };
  } catch (error) {
    if (!isRuntimeError(error, 'InvalidConfiguration')) throw error;
    return { ok: false, error: { code: error.code, message: error.message } };
  }
}

/** True if values of variables decide what is sent, or whether anything is sent. */
export function needsVariables(
  registry: Registry,
  { agent }: Pick<ThreadRecord, 'agent'>,
  { begun, prompt }: { readonly begun: boolean; readonly prompt: PromptDefinition | undefined },
): boolean {
  const required = begun ? [] : requirementsOf(registry, agent);
  return required.length > 0 || (prompt !== undefined && usesEnv(registry, prompt));
}

/** True if the execution has already had a model's answer, from either side; `stepCount` includes the present step. */
export function hasBegun({ subprompt, stepCount }: Pick<StepPlace, 'subprompt' | 'stepCount'>): boolean {
  return subprompt !== null || stepCount > 1;
}

/** True if the prompt shows variables, or a variable decides what it offers. */
function usesEnv(registry: Registry, prompt: PromptDefinition): boolean {
  return showsEnv(registry, prompt) || listSubagents(registry, prompt).some(({ optional }) => optional);
}

function showsEnv(registry: Registry, prompt: PromptDefinition): boolean {
  return prompt.prompt.some((part) => {
    const included = part.type === 'include' ? registry.prompts.get(part.prompt) : undefined;
    return part.type === 'env' || (included !== undefined && showsEnv(registry, included));
  });
}

function missingVariables({ id, agent }: ThreadRecord, absent: readonly Requirement[]): StoredError {
  const list = absent.map(({ name, by }) => `"${name}" (${by})`).join(', ');
  const one = absent.length === 1;
  return {
    code: 'MissingVariable',
    message:
      `Agent "${agent}" of thread "${id}" needs ${one ? 'a variable that has' : 'variables that have'} no value: ${list}. ` +
      `Set ${one ? 'it' : 'them'} with "everthread env set NAME --thread ${id}" (or --user ID, --instance), and send another message.`,
  };
}

/**
 * Values for `{{key}}` in a prompt: the scratch, overridden by the arguments of the thread, then by those of the sub-prompt's
 * call.
 */
export function promptVariables({
  scratch,
  thread,
  subprompt,
}: Pick<StepPlace, 'scratch' | 'thread' | 'subprompt'>): Readonly<Record<string, unknown>> {
  return { ...readScratch(scratch), ...thread.arguments, ...subprompt?.arguments };
}

/**
 * Variables used as settings of a provider (definitions §5.1, §16): those of the thread that makes the request. If values cannot be decrypted, the lookup throws ProviderError 'invalid_request': the step fails with that reason.
 */
export async function readProviderVariables(
  sources: Pick<ActivityDependencies, 'store' | 'registry'>,
  thread: ThreadRecord,
  prompt: PromptDefinition,
): Promise<VariableLookup> {
  try {
    const place = await readEnvPlace(sources, thread, { prompt });
    return (name) => resolveVariable(name, place)?.value;
  } catch (error) {
    if (!isRuntimeError(error, 'InvalidConfiguration')) throw error;
    return () => {
      throw new ProviderError(error.message, 'invalid_request');
    };
  }
}
