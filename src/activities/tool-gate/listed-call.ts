/**
 * Stage: checks whether the call may name its callee. Code may reach whatever the project defines; models and signals
 * only what the active prompt lists.
 */

import type { PromptToolEntry } from '../../core/author/definition.ts';
import type { Registry } from '../../core/author/registry.ts';
import { findActivePrompt } from '../../core/project/active-side.ts';
import { parseClientToolName } from '../../core/project/client-tool.ts';
import { type AnsweredCall, refuseCall } from '../../state/check-arguments.ts';
import { go, type Verdict } from '../../state/gate.ts';
import type { StoredToolCall } from '../../store/tool/tool-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import type { CallInfo, KnownCall } from './call-info.ts';

/** Adds the active prompt's entry for the callee; it may be absent if code made the call. */
export function requireListed(
  { registry }: Pick<ActivityDependencies, 'registry'>,
  { execution }: KnownCall,
): Verdict<{ readonly entry: PromptToolEntry | undefined }, AnsweredCall> {
  const entry = findEntry(registry(), execution);
  const refusal = refuseUnlisted(execution.call, entry);
  return refusal === undefined ? go({ entry }) : refuseCall(refusal);
}

/** Why the call is refused; undefined if it is allowed. */
export function refuseUnlisted(
  { name, origin }: Pick<StoredToolCall, 'name' | 'origin'>,
  entry: PromptToolEntry | undefined,
): string | undefined {
  // A client tool is listed by the newest user message instead (resolve-call.ts).
  if (origin === 'code' || entry || parseClientToolName(name) !== undefined) return undefined;
  return `Tool "${name}" is not available to this prompt.`;
}

export function findEntry(
  registry: Registry,
  { call, thread, side, subprompt }: Pick<CallInfo, 'call' | 'thread' | 'side' | 'subprompt'>,
): PromptToolEntry | undefined {
  const active = findActivePrompt(registry, thread.agent, { side, subprompt });
  return active?.tools.find(({ name }) => name === call.name);
}
