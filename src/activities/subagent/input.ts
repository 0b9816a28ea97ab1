/**
 * What a call of a subagent asks for (definitions §13.1, §13.3): the child's arguments, its first message with files of the
 * parent, its name. Checked in the order of runtime §3.3; a refusal is a result that the model reads, and says what to do.
 */

import { go } from '../../author/policy/gate.ts';
import { storeAttachments } from '../../author/state/attachments.ts';
import { createIds } from '../../author/state/id.ts';
import { refuseArguments, refuseCall } from '../../author/tool/check-arguments.ts';
import { checkStoredArguments } from '../../author/tool/check-schema.ts';
import { describeArguments } from '../../core/answer/repair-arguments.ts';
import type { Registry } from '../../core/author/registry.ts';
import { parseArguments } from '../../core/message/tool-call.ts';
import {
  childPrompt,
  FIRST_WORD,
  SUBAGENT_CREATE,
  SUBAGENT_MESSAGE,
  type Subagent,
  toThreadName,
} from '../../core/project/subagent.ts';
import { isRuntimeError, isStoreFault } from '../../core/value/error.ts';
import { isRecord } from '../../core/value/record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { requiredFields } from '../model/subagent-tools.ts';
import type { ResumableCall } from '../tool/resumable-call.ts';
import { argumentOf, type PromptArguments, toPaths, toText } from '../tool-gate/prompt-input.ts';
import type { ResolvedCall, SubagentCall } from './callee.ts';
import type { BootstrapInput } from './immediate-bootstrap.ts';

/** A message to the child; `attachments` are paths of the parent's files. */
export interface ChildMessage {
  readonly content: string;
  readonly attachments: readonly string[];
}

export interface FirstChildMessage extends ChildMessage {
  readonly arguments: PromptArguments;
  readonly name: string | null;
}

export interface CreateFields extends ChildMessage {
  readonly agent: string;
  readonly name: string;
  readonly arguments: PromptArguments;
}

const CREATE_FIELDS = ['agent', 'message', 'attachments', 'name', 'arguments'];
const MESSAGE_FIELDS = ['referenceId', 'message', 'attachments'];

/** Stage: reads the fields of `subagent_create` that do not depend on the agent. */
export function readCreateFields(_ports: unknown, { call }: SubagentCall) {
  const given = readFields(SUBAGENT_CREATE, call.begun.call.arguments, CREATE_FIELDS);
  if (given.kind === 'end') return given;
  const { agent, message, attachments, name, arguments: args = {} } = given.added.fields;
  if (!isText(agent)) return refuseInput(SUBAGENT_CREATE, '"agent" must be the name of an agent');
  if (!isRecord(args)) return refuseInput(SUBAGENT_CREATE, '"arguments" must be an object');
  if (!isText(message)) return refuseInput(SUBAGENT_CREATE, '"message" must be a string that is not blank');
  if (!isList(attachments)) return refuseInput(SUBAGENT_CREATE, ATTACHMENTS);
  if (typeof name !== 'string') return refuseInput(SUBAGENT_CREATE, '"name" must be a string');
  const shown = toThreadName(name);
  if (shown === null)
    return refuseInput(SUBAGENT_CREATE, '"name" must not be blank: it identifies the subagent to people');
  return go({ fields: { agent, arguments: args, content: message, attachments, name: shown } });
}

export interface MessageFields extends ChildMessage {
  readonly referenceId: string;
}

/** Stage: reads the fields of `subagent_message`. */
export function readMessageFields(_ports: unknown, { call }: SubagentCall) {
  const given = readFields(SUBAGENT_MESSAGE, call.begun.call.arguments, MESSAGE_FIELDS);
  if (given.kind === 'end') return given;
  const { referenceId, message, attachments } = given.added.fields;
  if (!isText(referenceId))
    return refuseInput(SUBAGENT_MESSAGE, '"referenceId" must be the reference of a subagent');
  if (!isText(message)) return refuseInput(SUBAGENT_MESSAGE, '"message" must be a string that is not blank');
  if (!isList(attachments)) return refuseInput(SUBAGENT_MESSAGE, ATTACHMENTS);
  return go({ fields: { referenceId, content: message, attachments } });
}

/** Stage: reads the arguments of a call by the agent's own name, and applies the entry's `init…` fields to them. */
export async function readOwnArguments(
  { registry }: ActivityDependencies,
  { subagent, input }: ResolvedCall & { readonly input: BootstrapInput },
) {
  const given = parseArguments(input.arguments);
  if (!given) return refuseInput(subagent.agent.name, describeArguments(input.arguments));
  const checked = await checkChildArguments(registry(), subagent, given);
  if (checked.kind === 'end') return checked;
  const { args } = checked.added;
  const name = toText(argumentOf(args, subagent.initAgentNameProperty));
  const content = toText(argumentOf(args, subagent.initUserMessageProperty));
  const named = argumentOf(args, subagent.initAttachmentsProperty) ?? [];
  const attachments = Array.isArray(named) ? named : [named];
  const unsaid = Object.keys(args).length > 0 ? JSON.stringify(args) : FIRST_WORD;
  return go({
    first: {
      arguments: args,
      content: content?.trim() ? content : (input.told?.content ?? unsaid),
      attachments,
      name: toThreadName(name ?? input.told?.name ?? ''),
    },
  });
}

/** Stage: checks the arguments that `subagent_create` passes to the child. */
export function checkNamedArguments(
  { registry }: ActivityDependencies,
  { subagent, fields }: ResolvedCall & { readonly fields: CreateFields },
) {
  return checkChildArguments(registry(), subagent, fields.arguments);
}

/** Stage: composes the name and the first message of a child that `subagent_create` makes. */
export function composeFirst(
  _ports: unknown,
  {
    fields: { agent: _, ...first },
    args,
    input: { told },
  }: { readonly fields: CreateFields; readonly args: PromptArguments; readonly input: BootstrapInput },
) {
  return go({ first: { ...first, ...told, arguments: args } });
}

/** Checks the arguments for both sides of the child, and applies defaults (definitions §22.20). */
async function checkChildArguments(
  registry: Registry,
  subagent: Subagent,
  args: Readonly<Record<string, unknown>>,
) {
  const schema = childPrompt(registry, subagent)?.requiredSchema;
  const checked = await checkStoredArguments(schema, args);
  if (checked.ok) return go({ args: checked.value });
  const agent = subagent.agent.name;
  const required = schema ? requiredFields(schema) : [];
  const needs = required.length > 0 ? ` Required: ${required.join(', ')}.` : '';
  const problem = { error_code: 'subagent_arguments_required', error_data: { agent, required } };
  // One JSON object, for programs; its first field is for models and people.
  const error = JSON.stringify({
    error: `The arguments of the subagent "${agent}" do not match its schema: ${checked.problems}.${needs}`,
    ...problem,
  });
  return refuseArguments(error, problem);
}

/** Stage: finds the files that a child is made with. */
export function findFirstFiles(
  ports: ActivityDependencies,
  { call, first }: SubagentCall & { readonly first: FirstChildMessage },
) {
  return findFiles(ports, call, { ids: 'first', named: first.attachments });
}

/** Stage: finds the files of a message to a child. */
export function findMessageFiles(
  ports: ActivityDependencies,
  { call, fields }: SubagentCall & { readonly fields: MessageFields },
) {
  return findFiles(ports, call, { ids: 'told', named: fields.attachments });
}

export interface FoundFiles {
  /** Paths of existing files, each once. */
  readonly files: readonly string[];
}

/** Refuses the call if a name is not that of a file. */
async function findFiles(
  { store }: ActivityDependencies,
  { key: { threadId, step, index }, begun }: ResumableCall,
  { ids, named }: { readonly ids: string; readonly named: readonly unknown[] },
) {
  const nextId = createIds(store, `${threadId}:${step}:${index}:${ids}`);
  try {
    const found = await storeAttachments({ store, threadId, nextId }, [...new Set(toPaths(named))]);
    return go({ files: found.map(({ path }) => path) });
  } catch (error) {
    if (!isRuntimeError(error) || isStoreFault(error)) throw error;
    return refuseCall(`${begun.call.name}: ${error.message}`);
  }
}

const ATTACHMENTS = '"attachments" must be a list of paths below /attachments/, and may be empty';

function readFields(call: string, text: string, known: readonly string[]) {
  const given = parseArguments(text);
  if (!given) return refuseInput(call, describeArguments(text));
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  if (unknown.length === 0) return go({ fields: given });
  return refuseInput(
    call,
    `unknown fields ${unknown.map((name) => JSON.stringify(name)).join(', ')}; the fields are ${known.join(', ')}`,
  );
}

export function refuseInput(call: string, problem: string) {
  return refuseArguments(`${call}: ${problem}.`);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
