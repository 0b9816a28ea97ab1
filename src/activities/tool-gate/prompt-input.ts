/**
 * Stages: the input of a call of a prompt, or of an agent that takes a handoff (definitions §12.6, §12.7): its
 * arguments, checked by the prompt that will read them, and the first message that the entry's `init…` fields make of
 * them.
 */

import { go, type Verdict } from '../../author/policy/gate.ts';
import { storeAttachments } from '../../author/state/attachments.ts';
import { createIds } from '../../author/state/id.ts';
import { type AnsweredCall, refuseArguments, refuseCall } from '../../author/tool/check-arguments.ts';
import { checkStoredArguments } from '../../author/tool/check-schema.ts';
import { describeArguments } from '../../core/answer/repair-arguments.ts';
import type { AuthorSchema } from '../../core/author/author-schema.ts';
import type { PromptToolEntry } from '../../core/author/definition.ts';
import { parseFilePath } from '../../core/file/file-path.ts';
import type { AttachmentRef } from '../../core/message/message.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import { isRuntimeError, isStoreFault, RuntimeError } from '../../core/value/error.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import type { KnownCall } from './call-info.ts';

export type PromptArguments = Readonly<Record<string, unknown>>;

/** Adds the parsed arguments, defaults applied; the refusal names each problem. */
export async function checkPromptArguments(
  _ports: unknown,
  { execution: { call }, schema }: KnownCall & { readonly schema: AuthorSchema | undefined },
) {
  const given = parseArguments(call.arguments);
  if (!given) return invalid(describeArguments(call.arguments));
  const checked = await checkStoredArguments(schema, given);
  return checked.ok ? go({ args: checked.value }) : invalid(checked.problems);
}

function invalid(problem: string) {
  return refuseArguments(`Prompt tool argument validation failed: ${problem}`);
}

export interface FirstMessage {
  readonly content: string;
  readonly attachments: readonly AttachmentRef[];
}

interface CheckedCall extends KnownCall {
  readonly entry: PromptToolEntry | undefined;
  readonly args: PromptArguments;
}

export interface ReadMessage {
  /** Undefined if the call passes none. */
  readonly message: FirstMessage | undefined;
  /** Generates ids for whatever else belongs to the first message, after those of its files. */
  readonly nextId: () => string;
}

export async function readFirstMessage(
  { store }: ActivityDependencies,
  { execution: { thread, step, index }, entry, args }: CheckedCall,
): Promise<Verdict<ReadMessage, AnsweredCall>> {
  const { initUserMessageProperty, initAttachmentsProperty } = entry?.extra ?? {};
  const text = toText(argumentOf(args, initUserMessageProperty));
  const named = argumentOf(args, initAttachmentsProperty);
  const nextId = createIds(store, `${thread.id}:${step}:${index}:first`);
  if (text === undefined && named === undefined) return go({ message: undefined, nextId });
  try {
    const attachments = await storeAttachments({ store, threadId: thread.id, nextId }, toPaths(named));
    return go({ message: { content: text ?? '', attachments }, nextId });
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    return refuseCall(error.message);
  }
}

export function argumentOf(args: PromptArguments, property: unknown): unknown {
  return typeof property === 'string' ? (args[property] ?? undefined) : undefined;
}

export function toText(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  return JSON.stringify(value);
}

/**
 * Accepts one path or a list of paths. Throws `InvalidPath` for a path that is not below `/attachments/` of the thread.
 */
export function toPaths(named: unknown): string[] {
  if (named === undefined) return [];
  return (Array.isArray(named) ? named : [named]).map((each: unknown) => {
    const path = parseFilePath(each as string);
    if (path.startsWith('/attachments/')) return path;
    throw new RuntimeError(
      'InvalidPath',
      `"${path}" is not an attachment: its path must begin with /attachments/.`,
    );
  });
}
