/**
 * Parses what OpenAI's clients send: the whole conversation, of which an existing thread takes only what is new.
 * Options that would change the shape of the answer are refused; options that only tune a model are ignored, because
 * the agent sets its own.
 */
import { z } from '@hono/zod-openapi';
import { ANY_OBJECT, readOutputSchema } from '../../../core/answer/output-schema.ts';
import type { ClientTool } from '../../../core/project/client-tool.ts';
import type { JsonSchema } from '../../../core/value/json-schema.ts';
import { readClientTools } from '../conversation/client-tools.ts';
import { type Conversation, type ConversationTerms, readConversation } from '../conversation/conversation.ts';
import { type GivenMessage, type GivenPart, toParts } from '../conversation/given-message.ts';
import { refuseRequest } from '../problem.ts';
import { optionalField, optionalText } from '../schema/optional-field.ts';

const part = z.looseObject({
  type: z.string(),
  text: optionalText,
  refusal: optionalText,
  image_url: optionalField(z.looseObject({ url: z.string() })),
  file: optionalField(z.looseObject({ file_data: optionalText, filename: optionalText })),
});

const message = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string(),
        function: optionalField(z.looseObject({ name: z.string(), arguments: z.string() })),
      }),
    )
    .nullish(),
  tool_call_id: z.string().nullish(),
});

const tool = z.looseObject({
  type: z.string(),
  function: optionalField(
    z.looseObject({
      name: z.string(),
      description: z.string().nullish(),
      parameters: z.record(z.string(), z.unknown()).nullish(),
    }),
  ),
});

export const completionBody = z
  .looseObject({
    model: z.string().min(1).meta({ description: 'The name of an agent' }),
    messages: z.array(message),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    metadata: z
      .looseObject({ thread_id: optionalText })
      .nullish()
      .meta({ description: '`thread_id`: id of the thread, which is created if it does not exist' }),
    user: z.string().nullish().meta({ description: 'The user of a new thread' }),
    n: z.int().nullish(),
    tools: z.array(tool).nullish().meta({
      description:
        'Functions that the client runs itself, offered to the agent while it answers this message',
    }),
    tool_choice: z.unknown().optional(),
    response_format: z
      .looseObject({
        type: z.string(),
        json_schema: z.looseObject({ schema: z.record(z.string(), z.unknown()).nullish() }).nullish(),
      })
      .nullish()
      .meta({
        description:
          '`json_schema`, `json_object`: the answer is JSON of this type, and nothing is sent before it is checked',
      }),
    modalities: z.array(z.string()).nullish(),
    logprobs: z.boolean().nullish(),
  })
  .openapi('CompletionRequest');

export type CompletionRequest = z.infer<typeof completionBody>;

/** Throws `InvalidRequest`. */
export async function readCompletion(
  body: CompletionRequest,
  { threadId, copy }: Pick<ConversationTerms, 'threadId' | 'copy'>,
): Promise<Conversation> {
  refuseShapes(body);
  const said = await readConversation(body.messages.map(toGiven), { tools: readTools(body), threadId, copy });
  if (said.message || said.results.size > 0) return said;
  if (said.last === 'tool')
    refuseRequest(
      'messages: a result at the end needs the "tool_call_id" of its call, with the role "tool".',
    );
  return refuseRequest(
    `messages: the last one must be of the user, or the result of a call, ${said.last ? `not of the role "${said.last}"` : 'but there is none'}.`,
  );
}

/** Throws `InvalidRequest`. */
function readTools({ tools, tool_choice: choice }: CompletionRequest): readonly ClientTool[] {
  if (!tools || choice === 'none') return [];
  return readClientTools(
    tools.map(({ type, function: called }) => {
      if (type === 'function' && called) return called;
      return refuseRequest(`tools: the type "${type.slice(0, 40)}" is not supported; only functions are.`);
    }),
  );
}

/** True if a request asks for an answer of a type. */
export function isTyped({ response_format: format }: CompletionRequest): boolean {
  return format !== undefined && format !== null && format.type !== 'text';
}

/** The type of the answer that a request asks for; undefined if it may be any text. Throws `InvalidRequest`. */
export function readFormat({ response_format: format }: CompletionRequest): JsonSchema | undefined {
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined;
    case 'json_object':
      return ANY_OBJECT;
    case 'json_schema': {
      const read = readOutputSchema(format.json_schema?.schema ?? ANY_OBJECT);
      if (read.ok) return read.schema;
      return refuseRequest(`response_format: the schema ${read.reason}.`);
    }
    default:
      return refuseRequest(
        `response_format: must be "text", "json_schema" or "json_object", not "${format?.type.slice(0, 40)}".`,
      );
  }
}

function refuseShapes({ n, tool_choice: choice = 'auto', modalities, logprobs }: CompletionRequest): void {
  if (n != null && n !== 1) refuseRequest(`n: must be 1, not ${n}, because a thread gives one answer.`);
  if (choice !== null && choice !== 'auto' && choice !== 'none')
    refuseRequest(
      'tool_choice: only "auto" and "none" are supported, because an agent chooses its calls itself.',
    );
  if (modalities?.some((each) => each !== 'text')) refuseRequest('modalities: only "text" is supported.');
  if (logprobs) refuseRequest('logprobs: not supported.');
}

function toGiven(given: z.infer<typeof message>): GivenMessage {
  const { role, content, tool_calls: calls, tool_call_id: callId } = given;
  return {
    role: role === 'function' ? 'tool' : role,
    parts: [...toParts(content, toPart), ...(calls ?? []).flatMap(toLostCall)],
    calls: calls?.flatMap(({ id, function: called }) => (called ? [{ id, ...called }] : [])),
    callId: callId ?? undefined,
  };
}

/** A call of another kind than a function. */
function toLostCall({
  function: called,
}: NonNullable<z.infer<typeof message>['tool_calls']>[number]): GivenPart[] {
  return called ? [] : [{ kind: 'other', type: 'call' }];
}

function toPart({ type, text, refusal, image_url: image, file }: z.infer<typeof part>): GivenPart {
  if (type === 'text' || type === 'refusal') return { kind: 'text', text: text ?? refusal ?? '' };
  if (type === 'image_url' && image) return { kind: 'file', type: 'image', url: image.url };
  const { file_data: url, filename: name } = file ?? {};
  return type === 'file' && url !== undefined ? { kind: 'file', type, url, name } : { kind: 'other', type };
}
