/**
 * What a call of a subagent asks for (definitions §13.1, §13.3): the child's arguments, its first message with files of the
 * parent, its name. Checked in the order of runtime §3.3; a refusal is a result that the model reads, and says what to do.
 */
import { parseArguments } from '../../core/context.ts';
import type { Registry } from '../../core/definition.ts';
import { isRuntimeError, isStoreTrouble } from '../../core/error.ts';
import {
  childPrompt,
  FIRST_WORD,
  SUBAGENT_CREATE,
  SUBAGENT_MESSAGE,
  type Subagent,
  toThreadName,
} from '../../core/subagent.ts';
import { type AttachmentTarget, storeAttachments } from '../../state/attachments.ts';
import { describeIssues } from '../../state/check-arguments.ts';
import { requiredFields } from '../model/subagent-tools.ts';
import { argumentOf, type PromptArguments, toPaths, toText } from '../tool-gate/prompt-input.ts';

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  /** What the model reads. */
  | { readonly ok: false; readonly error: string };

/** What the child is told: paths of the parent's files go along. */
export interface Told {
  readonly content: string;
  readonly attachments: readonly string[];
}

export interface FirstTold extends Told {
  readonly arguments: PromptArguments;
  readonly name: string | null;
}

export interface CreateFields extends Told {
  readonly agent: string;
  readonly name: string;
  readonly arguments: PromptArguments;
}

const CREATE_FIELDS = ['agent', 'message', 'attachments', 'name', 'arguments'];
const MESSAGE_FIELDS = ['referenceId', 'message', 'attachments'];

/** Those of `subagent_create` as far as they do not depend on the agent. */
export function readCreate(text: string): Checked<CreateFields> {
  const given = readFields(SUBAGENT_CREATE, text, CREATE_FIELDS);
  if (!given.ok) return given;
  const { agent, message, attachments, name, arguments: args = {} } = given.value;
  if (!isText(agent)) return refuseInput(SUBAGENT_CREATE, '"agent" must name an agent');
  if (!isRecord(args)) return refuseInput(SUBAGENT_CREATE, '"arguments" must be an object');
  if (!isText(message)) return refuseInput(SUBAGENT_CREATE, '"message" must be a text that is not blank');
  if (!isList(attachments)) return refuseInput(SUBAGENT_CREATE, ATTACHMENTS);
  if (typeof name !== 'string') return refuseInput(SUBAGENT_CREATE, '"name" must be a text');
  const shown = toThreadName(name);
  if (shown === null)
    return refuseInput(SUBAGENT_CREATE, '"name" must not be blank: people know the subagent by it');
  return { ok: true, value: { agent, arguments: args, content: message, attachments, name: shown } };
}

export interface MessageFields extends Told {
  readonly referenceId: string;
}

export function readMessage(text: string): Checked<MessageFields> {
  const given = readFields(SUBAGENT_MESSAGE, text, MESSAGE_FIELDS);
  if (!given.ok) return given;
  const { referenceId, message, attachments } = given.value;
  if (!isText(referenceId))
    return refuseInput(SUBAGENT_MESSAGE, '"referenceId" must be the reference of a subagent');
  if (!isText(message)) return refuseInput(SUBAGENT_MESSAGE, '"message" must be a text that is not blank');
  if (!isList(attachments)) return refuseInput(SUBAGENT_MESSAGE, ATTACHMENTS);
  return { ok: true, value: { referenceId, content: message, attachments } };
}

/** Where the arguments say nothing of it. */
export interface Otherwise {
  readonly name: string;
  readonly content: string;
}

/** The arguments of a call by the agent's own name, and what the entry's `init…` fields make of them. */
export function readOwnCall(
  registry: Registry,
  subagent: Subagent,
  text: string,
  otherwise?: Otherwise,
): Checked<FirstTold> {
  const given = parseArguments(text);
  if (!given) return refuseInput(subagent.agent.name, 'the arguments are not a JSON object');
  const checked = checkChildArguments(registry, subagent, given);
  if (!checked.ok) return checked;
  const args = checked.value;
  const name = toText(argumentOf(args, subagent.initAgentNameProperty));
  const content = toText(argumentOf(args, subagent.initUserMessageProperty));
  const named = argumentOf(args, subagent.initAttachmentsProperty) ?? [];
  const attachments = Array.isArray(named) ? named : [named];
  const unsaid = Object.keys(args).length > 0 ? JSON.stringify(args) : FIRST_WORD;
  return {
    ok: true,
    value: {
      arguments: args,
      content: content?.trim() ? content : (otherwise?.content ?? unsaid),
      attachments,
      name: toThreadName(name ?? otherwise?.name ?? ''),
    },
  };
}

/** Of both sides of the child, defaults applied (definitions §22.20). */
export function checkChildArguments(
  registry: Registry,
  subagent: Subagent,
  args: Readonly<Record<string, unknown>>,
): Checked<PromptArguments> {
  const schema = childPrompt(registry, subagent)?.requiredSchema;
  if (!schema) return { ok: true, value: args };
  const parsed = schema.safeParse(args);
  if (parsed.success) return { ok: true, value: parsed.data as PromptArguments };
  const agent = subagent.agent.name;
  const required = requiredFields(schema);
  const needs = required.length > 0 ? ` It needs: ${required.join(', ')}.` : '';
  // One JSON object, for programs; its first field is for models and people.
  const error = JSON.stringify({
    error: `The arguments of the subagent "${agent}" are not what it takes: ${describeIssues(parsed.error.issues)}.${needs}`,
    error_code: 'subagent_arguments_required',
    error_data: { agent, required },
  });
  return { ok: false, error };
}

/** Paths of files that are there, each once; what else is named is refused. */
export async function findFiles(
  place: AttachmentTarget,
  call: string,
  named: readonly unknown[],
): Promise<Checked<readonly string[]>> {
  try {
    const files = await storeAttachments(place, [...new Set(toPaths(named))]);
    return { ok: true, value: files.map(({ path }) => path) };
  } catch (error) {
    if (!isRuntimeError(error) || isStoreTrouble(error)) throw error;
    return { ok: false, error: `${call}: ${error.message}` };
  }
}

const ATTACHMENTS = '"attachments" must be a list of paths below /attachments/, and may be empty';

function readFields(
  call: string,
  text: string,
  known: readonly string[],
): Checked<Readonly<Record<string, unknown>>> {
  const given = parseArguments(text);
  if (!given) return refuseInput(call, 'the arguments are not a JSON object');
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length === 0) return { ok: true, value: given };
  return refuseInput(
    call,
    `it does not take ${unknown.map((name) => JSON.stringify(name)).join(', ')}, but ${known.join(', ')}`,
  );
}

export function refuseInput(call: string, problem: string): { ok: false; error: string } {
  return { ok: false, error: `${call}: ${problem}.` };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
