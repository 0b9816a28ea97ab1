/**
 * Parses what OpenAI's clients send: the whole conversation, of which an existing thread takes only the last message.
 * Options that would change the shape of the answer are refused; options that only tune a model are ignored, because
 * the agent sets its own.
 */
import { z } from '@hono/zod-openapi';
import type { OutgoingMessage } from '../../../client/outgoing.ts';
import { type ClientTool, refuseClientTools } from '../../../core/project/client-tool.ts';
import { LIMITS } from '../../../core/value/limit.ts';
import { toAttachment } from '../chat/data-url.ts';
import { refuseRequest } from '../problem.ts';

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  image_url: z.looseObject({ url: z.string() }).optional(),
  file: z.looseObject({ file_data: z.string().optional(), filename: z.string().optional() }).optional(),
});

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_call_id: z.string().nullish(),
});

const tool = z.looseObject({
  type: z.string(),
  function: z
    .looseObject({
      name: z.string(),
      description: z.string().nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish(),
    })
    .optional(),
});

export const completionBody = z
  .looseObject({
    model: z.string().min(1).meta({ description: 'The name of an agent' }),
    messages: z.array(message),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    metadata: z
      .looseObject({ thread_id: z.string().optional() })
      .nullish()
      .meta({ description: '`thread_id`: id of the thread, which is created if it does not exist' }),
    user: z.string().nullish().meta({ description: 'The user of a new thread' }),
    n: z.int().nullish(),
    tools: z.array(tool).nullish().meta({
      description:
        'Functions that the client runs itself, offered to the agent while it answers this message',
    }),
    tool_choice: z.unknown().optional(),
    response_format: z.looseObject({ type: z.string() }).nullish(),
    modalities: z.array(z.string()).nullish(),
    logprobs: z.boolean().nullish(),
  })
  .openapi('CompletionRequest');

export type CompletionRequest = z.infer<typeof completionBody>;
type GivenMessage = z.infer<typeof message>;

export interface CompletionTurn {
  readonly message: OutgoingMessage;
  /** Earlier messages that a new thread begins with: the last ones, up to the limit. */
  readonly before: readonly OutgoingMessage[];
  /** Number of user messages, this one included. */
  readonly said: number;
}

/** Returns results of the client's own calls, by the call id sent to it; none if the last message is no result. */
export function readResults({ messages }: CompletionRequest): ReadonlyMap<string, string> {
  const first = messages.findLastIndex(({ role }) => role !== 'tool') + 1;
  return new Map(messages.slice(first).map((each) => [each.tool_call_id ?? '', textOf(each)]));
}

/** Returns the client's tools. Throws `InvalidRequest` for one that an agent cannot call. */
export function readTools({ tools, tool_choice: choice }: CompletionRequest): readonly ClientTool[] {
  if (!tools || choice === 'none') return [];
  const given = tools.map(({ type, function: called }): ClientTool => {
    if (type !== 'function' || !called)
      return refuseRequest(`tools: the type "${type.slice(0, 40)}" is not supported; only functions are.`);
    const { name, description, parameters } = called;
    return {
      name,
      description: description ?? '',
      parameters: parameters ?? { type: 'object', properties: {} },
    };
  });
  const refusal = refuseClientTools(given);
  return refusal === undefined ? given : refuseRequest(`tools: ${refusal}.`);
}

/** Throws `InvalidRequest`. */
export function readCompletion(body: CompletionRequest): CompletionTurn {
  refuseShapes(body);
  const { messages } = body;
  const last = messages.at(-1);
  if (last?.role !== 'user')
    return refuseRequest(
      `messages: the last one must have the role "user", ${last ? `not "${last.role}"` : 'but there is none'}.`,
    );
  const before = messages.slice(0, -1).flatMap(toEarlierMessages);
  return {
    message: toMessage(last),
    before: before.slice(1 - LIMITS.startMessages),
    said: messages.filter(({ role }) => role === 'user').length,
  };
}

function refuseShapes({
  n,
  tool_choice: choice = 'auto',
  response_format: format,
  modalities,
  logprobs,
}: CompletionRequest): void {
  if (n != null && n !== 1) refuseRequest(`n: must be 1, not ${n}, because a thread gives one answer.`);
  if (choice !== null && choice !== 'auto' && choice !== 'none')
    refuseRequest(
      'tool_choice: only "auto" and "none" are supported, because an agent chooses its calls itself.',
    );
  if (format && format.type !== 'text')
    refuseRequest(`response_format: only "text" is supported, not "${format.type}".`);
  if (modalities?.some((each) => each !== 'text')) refuseRequest('modalities: only "text" is supported.');
  if (logprobs) refuseRequest('logprobs: not supported.');
}

/** Keeps only messages of users and the assistant: prompts and tools are the agent's own. */
function toEarlierMessages(given: GivenMessage): readonly OutgoingMessage[] {
  const { role } = given;
  if (role !== 'user' && role !== 'assistant') return [];
  const content = textOf(given);
  return content === '' ? [] : [{ role, content }];
}

function toMessage(given: GivenMessage): OutgoingMessage {
  const attachments = partsOf(given)
    .filter(({ type }) => type !== 'text')
    .map(toFile);
  return { content: textOf(given), ...(attachments.length > 0 ? { attachments } : {}) };
}

function textOf({ content }: GivenMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap(({ type, text }) => (type === 'text' && text ? [text] : [])).join('\n');
}

function partsOf({ content }: GivenMessage): readonly z.infer<typeof part>[] {
  return Array.isArray(content) ? content : [];
}

function toFile({ type, image_url: image, file }: z.infer<typeof part>, n: number) {
  const url = type === 'image_url' ? image?.url : type === 'file' ? file?.file_data : undefined;
  if (url === undefined) return refuseRequest(`messages: a part of the type "${type}" is not supported.`);
  return toAttachment({ url, filename: file?.filename }, n);
}
