/**
 * Parses what a page of the AI SDK posts: its messages, of which a thread that exists takes only the last one, or only
 * that one. From an assistant's message at the end only the answers to approvals are used: the thread has the inputs
 * and results of calls itself.
 */
import { z } from '@hono/zod-openapi';
import type { OutgoingMessage } from '../../../client/outgoing.ts';
import { type Conversation, readConversation, toItemId } from '../conversation/conversation.ts';
import type { GivenMessage, GivenPart } from '../conversation/given-message.ts';
import type { CopyFiles } from '../conversation/own-files.ts';
import { refuseRequest } from '../problem.ts';
import { optionalField, optionalText } from '../schema/optional-field.ts';
import type { TurnAnswer } from '../turn/turn.ts';

const approval = z.looseObject({
  id: z.string(),
  approved: optionalField(z.boolean()),
  reason: optionalText,
});

const uiPart = z.looseObject({
  type: z.string(),
  text: optionalText,
  url: optionalText,
  mediaType: optionalText,
  filename: optionalText,
  state: optionalText,
  approval: optionalField(approval),
  toolName: optionalText,
  toolCallId: optionalText,
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: optionalText,
});

const uiMessage = z.looseObject({
  id: optionalText,
  role: z.enum(['user', 'assistant', 'system']),
  parts: z.array(uiPart),
});

type UiPart = z.infer<typeof uiPart>;

export const chatBody = z
  .looseObject({
    id: z.string().min(1).max(200).meta({ description: "Id of the chat, which is its thread's id" }),
    messages: optionalField(z.array(uiMessage)),
    message: optionalField(uiMessage),
    trigger: optionalText,
    messageId: optionalText.meta({ description: 'The message that is regenerated, or edited' }),
    cancel: optionalField(z.boolean()).meta({
      description: 'For a regeneration or an edit: stops first what the chat does',
    }),
    acknowledge: optionalField(z.boolean()).meta({
      description: 'For a regeneration or an edit: goes on although the outcome of an action is unknown',
    }),
    arguments: optionalField(z.record(z.string(), z.unknown())).meta({
      description: 'Arguments of a new thread',
    }),
  })
  .openapi('ChatRequest');

/** A message, or answers to approvals. */
export interface ChatTurn {
  readonly message: OutgoingMessage | null;
  readonly before?: Conversation['before'];
  readonly answers?: readonly TurnAnswer[];
  /** What the page asks to be answered again, if the thread has it; `edits`: with the message as its new text. */
  readonly again?: { readonly messageId: string | undefined; readonly edits: boolean };
}

/** Throws `InvalidRequest`. */
export async function readChatTurn(
  { id, messages, message, trigger, messageId }: z.infer<typeof chatBody>,
  copy: CopyFiles,
): Promise<ChatTurn> {
  const all = message ? [message] : (messages ?? []);
  const last = all.findLast(({ role }) => role !== 'system');
  if (!last) return refuseRequest('There is no message: give "messages", or the last one as "message".');
  const said = await readConversation(all.flatMap(toGivenMessages), { threadId: id, copy });
  // A page takes the message that it regenerates from its list before it posts that, and may post nothing else.
  if (trigger === 'regenerate-message')
    return {
      message: said.message,
      before: said.before,
      again: { messageId: said.message?.id ?? messageId, edits: false },
    };
  const again =
    messageId && said.message?.id === toItemId(messageId, 'ui')
      ? { messageId: said.message.id, edits: true }
      : undefined;
  if (said.message) return { message: said.message, before: said.before, again };
  const answers = last.parts.flatMap(toAnswer);
  if (answers.length === 0)
    refuseRequest(
      `The last message has the role "${last.role}" and answers no approval: send a message of the user.`,
    );
  return { message: null, answers };
}

function toAnswer({ state, approval: given }: UiPart): TurnAnswer[] {
  if (state !== 'approval-responded' || given?.approved === undefined) return [];
  const { id: waitId, approved, reason } = given;
  return [{ waitId, toAnswer: () => ({ approved, ...(reason === undefined ? {} : { reason }) }) }];
}

/** An answer becomes a message for each of its steps, followed by the results of the step's calls. */
function toGivenMessages({ id, role, parts }: z.infer<typeof uiMessage>): readonly GivenMessage[] {
  if (role !== 'assistant')
    return [{ id: id === undefined ? undefined : toItemId(id, 'ui'), role, parts: parts.flatMap(toPart) }];
  return toSteps(parts).flatMap((step): GivenMessage[] => {
    const tools = step.filter(isTool);
    const calls = tools.map((tool) => ({
      id: tool.toolCallId ?? '',
      name: tool.toolName ?? tool.type.replace(/^tool-/, ''),
      arguments: JSON.stringify(tool.input ?? {}),
    }));
    return [{ role, parts: step.flatMap(toPart), calls }, ...tools.flatMap(toResult)];
  });
}

function isTool({ type, toolCallId }: UiPart): boolean {
  return toolCallId !== undefined && (type === 'dynamic-tool' || type.startsWith('tool-'));
}

/** A step ends where the next one starts, or where text follows its calls. */
function toSteps(parts: readonly UiPart[]): readonly (readonly UiPart[])[] {
  const steps: UiPart[][] = [[]];
  for (const part of parts) {
    const step = steps.at(-1) ?? [];
    if (part.type === 'step-start' || (part.type === 'text' && step.some(isTool))) steps.push([part]);
    else step.push(part);
  }
  return steps;
}

function toResult({ toolCallId: callId, output, errorText, state }: UiPart): GivenMessage[] {
  const failed = state === 'output-error';
  if (!failed && output === undefined) return [];
  const text = failed ? (errorText ?? '') : typeof output === 'string' ? output : JSON.stringify(output);
  return [{ role: 'tool', callId, failed, parts: [{ kind: 'text', text }] }];
}

/** Parts that belong to the display alone. */
const SHOWN = /^(step-start|reasoning|data-.*)$/;

function toPart(part: UiPart): GivenPart[] {
  const { type, text = '', url, mediaType: mimeType, filename: name } = part;
  if (type === 'text') return [{ kind: 'text', text }];
  if (isTool(part) || SHOWN.test(type)) return [];
  if (url === undefined) return [{ kind: 'other', type }];
  return [{ kind: 'file', type: mimeType?.startsWith('image/') ? 'image' : type, url, mimeType, name }];
}
