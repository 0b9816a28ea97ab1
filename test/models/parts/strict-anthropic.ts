/**
 * Anthropic's Messages API with its rules on thinking: with thinking enabled, a turn in a tool loop begins with its
 * thinking blocks, which return complete, in order and unmodified; signatures are its own; without thinking, no block
 * of it is sent in the running turn.
 */
import { isDeepStrictEqual } from 'node:util';
import { type StrictServer, serveStrictly } from './strict-server.ts';

export type Block =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly type: 'server_tool_use'; readonly id: string; readonly name: string; readonly input: object }
  | { readonly type: 'web_search_tool_result'; readonly tool_use_id: string; readonly content: unknown }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content: unknown };

export interface AnthropicBody {
  readonly model: string;
  readonly thinking?: { readonly type: string };
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
}

const THINKS: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking']);

/** `hangsAfter`: the first answer stops behind so many events. */
export async function strictAnthropic(
  answers: readonly (readonly Block[])[],
  hangsAfter?: number,
): Promise<StrictServer<AnthropicBody>> {
  const left = [...answers];
  const known = answers.flat();
  let cut = hangsAfter;
  const answer = () => {
    const events = toEvents(left.shift() ?? [{ type: 'text', text: 'Done.' }]);
    const judged = cut === undefined ? { events } : { events: events.slice(0, cut), hangs: true };
    cut = undefined;
    return judged;
  };
  return serveStrictly<AnthropicBody>(
    (body) => refuse(body, known, answers) ?? answer(),
    (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  );
}

function refuse(
  { messages, thinking }: AnthropicBody,
  known: readonly Block[],
  answers: readonly (readonly Block[])[],
): string | undefined {
  const isOn = thinking !== undefined && thinking.type !== 'disabled';
  for (const [at, { role, content }] of messages.entries()) {
    const foreign = content.findIndex(
      (block) => THINKS.has(block.type) && !known.some((each) => isDeepStrictEqual(each, block)),
    );
    if (foreign >= 0) return `messages.${at}.content.${foreign}: Invalid \`signature\` in \`thinking\` block`;
    const asked = messages[at - 1]?.content.filter(({ type }) => type === 'tool_use') ?? [];
    const results = role === 'user' ? content.filter(({ type }) => type === 'tool_result') : [];
    if (role === 'user' && asked.length !== results.length)
      return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
  }
  const start = messages.findLastIndex(
    ({ role, content }) => role === 'user' && !content.some(({ type }) => type === 'tool_result'),
  );
  const turn = messages.slice(start + 1).filter(({ role }) => role === 'assistant');
  const first = turn[0]?.content[0];
  if (isOn && thinking.type === 'enabled' && first && !THINKS.has(first.type))
    return (
      `messages.${start + 1}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. ` +
      'When `thinking` is enabled, a final `assistant` message must start with a thinking block'
    );
  for (const { content } of turn) {
    const own = content.filter(({ type }) => THINKS.has(type));
    if (!isOn && own.length > 0)
      return 'When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`';
    const use = content.find((block) => block.type === 'tool_use');
    const answer = answers.find(
      (blocks) => use && blocks.some((block) => block.type === 'tool_use' && block.id === use.id),
    );
    if (
      isOn &&
      answer &&
      !isDeepStrictEqual(
        own,
        answer.filter(({ type }) => THINKS.has(type)),
      )
    )
      return '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified';
  }
  return undefined;
}

function toEvents(blocks: readonly Block[]): object[] {
  const called = blocks.some(({ type }) => type === 'tool_use');
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], usage };
  return [
    { type: 'message_start', message },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: toStart(block) },
      ...toDeltas(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: called ? 'tool_use' : 'end_turn' }, usage },
    { type: 'message_stop' },
  ];
}

function toStart(block: Block): object {
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  if (block.type === 'text') return { ...block, text: '' };
  return block.type === 'tool_use' || block.type === 'server_tool_use' ? { ...block, input: {} } : block;
}

/** A signature arrives in a delta of its own, which has no text. */
function toDeltas(block: Block): object[] {
  const halves = (text: string) => [text.slice(0, 3), text.slice(3)].filter((half) => half !== '');
  switch (block.type) {
    case 'thinking':
      return [
        ...halves(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ];
    case 'text':
      return halves(block.text).map((text) => ({ type: 'text_delta', text }));
    case 'tool_use':
    case 'server_tool_use':
      return halves(JSON.stringify(block.input)).map((json) => ({
        type: 'input_json_delta',
        partial_json: json,
      }));
    default:
      return [];
  }
}
