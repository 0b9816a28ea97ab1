/**
 * OpenAI's Responses API as it answers to those who keep nothing with it: no item is known by its id; a reasoning item
 * comes encrypted, returns as it was, and with the item that followed it; an item that is named by its id needs its
 * reasoning.
 */
import { isDeepStrictEqual } from 'node:util';
import { type StrictServer, serveStrictly } from './strict-server.ts';

export type Item =
  | {
      type: 'reasoning';
      id?: string;
      encrypted_content: string;
      summary: { type: 'summary_text'; text: string }[];
    }
  | { type: 'message'; id?: string; text: string }
  | { type: 'function_call'; id?: string; call_id: string; name: string; arguments: string };

interface Input {
  readonly type?: string;
  readonly role?: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly arguments?: string;
  readonly encrypted_content?: string;
  readonly summary?: unknown;
  readonly content?: unknown;
}

export interface OpenAiBody {
  readonly model: string;
  readonly store?: boolean;
  readonly include?: readonly string[];
  readonly input: readonly Input[];
}

export async function strictOpenAi(answers: readonly (readonly Item[])[]): Promise<StrictServer<OpenAiBody>> {
  const left = [...answers];
  return serveStrictly<OpenAiBody>(
    (body) =>
      refuse(body, answers) ?? {
        events: toEvents(left.shift() ?? [{ type: 'message', id: 'msg_0', text: 'Done.' }]),
      },
    (message) => ({ error: { message, type: 'invalid_request_error', param: 'input', code: null } }),
  );
}

function refuse(
  { input, store, include = [] }: OpenAiBody,
  answers: readonly (readonly Item[])[],
): string | undefined {
  if (store !== false) return 'This organisation keeps nothing: `store` must be false.';
  if (!include.includes('reasoning.encrypted_content'))
    return 'Reasoning must be asked for in its encrypted form.';
  for (const [at, item] of input.entries()) {
    if (item.type === 'item_reference')
      return `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`;
    if (
      item.type === 'function_call_output' &&
      !input.slice(0, at).some((each) => each.type === 'function_call' && each.call_id === item.call_id)
    )
      return `No tool call found for function call output with call_id ${item.call_id}.`;
    if (item.type !== 'reasoning' && item.id !== undefined && input[at - 1]?.type !== 'reasoning')
      return `Item '${item.id}' was provided without its required 'reasoning' item.`;
    const problem = item.type === 'reasoning' ? refuseReasoning(item, input[at + 1], answers) : undefined;
    if (problem) return problem;
  }
  return undefined;
}

function refuseReasoning(
  item: Input,
  next: Input | undefined,
  answers: readonly (readonly Item[])[],
): string | undefined {
  const answer = answers.find((items) =>
    items.some((each) => each.type === 'reasoning' && each.encrypted_content === item.encrypted_content),
  );
  const place =
    answer?.findIndex(
      (each) => each.type === 'reasoning' && each.encrypted_content === item.encrypted_content,
    ) ?? -1;
  const known = answer?.[place];
  if (known?.type !== 'reasoning' || !isDeepStrictEqual(item.summary, known.summary))
    return 'The encrypted content of a reasoning item could not be verified.';
  const follower = answer?.[place + 1];
  const follows =
    follower?.type === 'function_call'
      ? next?.call_id === follower.call_id && next.arguments === follower.arguments
      : follower?.type === 'message'
        ? JSON.stringify(next?.content)?.includes(JSON.stringify(follower.text))
        : next?.type === 'reasoning';
  return follows ? undefined : "Item of type 'reasoning' was provided without its required following item.";
}

function toEvents(items: readonly Item[]): object[] {
  const response = { id: 'resp_1', created_at: 1, model: 'gpt-5', service_tier: null };
  const usage = { input_tokens: 10, output_tokens: 5 };
  return [
    { type: 'response.created', response },
    ...items.flatMap((item, output_index) => toItemEvents(item, output_index)),
    { type: 'response.completed', response: { ...response, incomplete_details: null, usage } },
  ];
}

function toItemEvents(item: Item, output_index: number): object[] {
  const begun = (fields: object) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, ...fields },
  });
  const done = (fields: object) => ({
    type: 'response.output_item.done',
    output_index,
    item: { ...item, ...fields },
  });
  const item_id = item.id;
  switch (item.type) {
    case 'reasoning':
      return [
        begun({ summary: [], encrypted_content: 'not all yet' }),
        ...item.summary.flatMap(({ text }, summary_index) => [
          { type: 'response.reasoning_summary_part.added', item_id, summary_index },
          { type: 'response.reasoning_summary_text.delta', item_id, summary_index, delta: text },
          { type: 'response.reasoning_summary_part.done', item_id, summary_index },
        ]),
        done({}),
      ];
    case 'function_call':
      return [
        begun({ arguments: '', status: 'in_progress' }),
        { type: 'response.function_call_arguments.delta', item_id, output_index, delta: item.arguments },
        done({ status: 'completed' }),
      ];
    case 'message': {
      const content = [{ type: 'output_text', text: item.text, annotations: [] }];
      return [
        begun({ role: 'assistant', content: [], status: 'in_progress' }),
        { type: 'response.output_text.delta', item_id, output_index, content_index: 0, delta: item.text },
        done({ role: 'assistant', content, status: 'completed' }),
      ];
    }
  }
}
