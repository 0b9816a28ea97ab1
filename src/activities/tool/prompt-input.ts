/**
 * What a call of a prompt, or of an agent that takes a handoff, brings along (definitions §12.6, §12.7): arguments, checked by
 * the prompt that will read them, and the first message that the entry's `init…` fields make of them.
 */
import { findActivePrompt } from '../../core/active-side.ts';
import { parseArguments } from '../../core/context.ts';
import type { AuthorSchema, PromptToolEntry, Registry } from '../../core/definition.ts';
import { isRuntimeError, isStoreTrouble, RuntimeError } from '../../core/error.ts';
import { parseFilePath } from '../../core/file-path.ts';
import type { AttachmentRef } from '../../core/message.ts';
import { type AttachmentTarget, storeAttachments } from '../../state/attachments.ts';
import { describeIssues } from '../../state/check-arguments.ts';
import type { ResumableCall } from './resumable-call.ts';

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  /** What the model reads. */
  | { readonly ok: false; readonly error: string };

export type PromptArguments = Readonly<Record<string, unknown>>;

/** Parsed arguments, defaults applied, or a line that names each problem. */
export function checkPromptArguments(
  schema: AuthorSchema | undefined,
  text: string,
): Checked<PromptArguments> {
  const given = parseArguments(text);
  if (!given) return invalid('the arguments are not a JSON object');
  if (!schema) return { ok: true, value: given };
  const parsed = schema.safeParse(given);
  if (parsed.success) return { ok: true, value: parsed.data as PromptArguments };
  return invalid(describeIssues(parsed.error.issues));
}

function invalid(problem: string): { ok: false; error: string } {
  return { ok: false, error: `Prompt tool argument validation failed: ${problem}` };
}

export interface FirstMessage {
  readonly content: string;
  readonly attachments: readonly AttachmentRef[];
}

/** Undefined where the call brings none. */
export async function readFirstMessage(
  place: AttachmentTarget,
  entry: PromptToolEntry | undefined,
  args: PromptArguments,
): Promise<Checked<FirstMessage | undefined>> {
  const { initUserMessageProperty, initAttachmentsProperty } = entry?.extra ?? {};
  const text = toText(argumentOf(args, initUserMessageProperty));
  const named = argumentOf(args, initAttachmentsProperty);
  if (text === undefined && named === undefined) return { ok: true, value: undefined };
  try {
    const attachments = await storeAttachments(place, toPaths(named));
    return { ok: true, value: { content: text ?? '', attachments } };
  } catch (error) {
    if (!isRuntimeError(error) || isStoreTrouble(error)) throw error;
    return { ok: false, error: error.message };
  }
}

export function argumentOf(args: PromptArguments, property: unknown): unknown {
  return typeof property === 'string' ? (args[property] ?? undefined) : undefined;
}

export function toText(value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  return JSON.stringify(value);
}

/** One path, or a list of them: files of the thread below `/attachments/` and nowhere else. */
export function toPaths(named: unknown): string[] {
  if (named === undefined) return [];
  return (Array.isArray(named) ? named : [named]).map((each: unknown) => {
    const path = parseFilePath(each as string);
    if (path.startsWith('/attachments/')) return path;
    throw new RuntimeError(
      'InvalidPath',
      `"${path}" is no attachment: its path must begin with /attachments/.`,
    );
  });
}

/** The active prompt's entry for what is called; undefined where it lists no such name, and code has called it. */
export function findEntry(
  registry: Registry,
  { call, thread, ...place }: Pick<ResumableCall['begun'], 'call' | 'thread' | 'side' | 'subprompt'>,
): PromptToolEntry | undefined {
  const active = findActivePrompt(registry, thread.agent, place);
  return active?.tools.find(({ name }) => name === call.name);
}
