/** A malicious MCP server over standard streams; its first argument names its misbehaviour. */
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , how, pidFile] = process.argv;
if (pidFile) writeFileSync(pidFile, String(process.pid));
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tool = (name, more = {}) => ({ name, description: 'x', inputSchema: { type: 'object' }, ...more });
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const nested = (levels) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
/** Text with direction marks, escapes, and letters that only models see. */
const hidden = (words) => `\u001b[31m\u202e${words}\u200b\u2066${String.fromCodePoint(0xe0041, 0xe0042)}`;
const [, , , , inside] = process.argv;
const lists = {
  'lists forever': () => ({ tools: [], nextCursor: String(Math.random()) }),
  'lists a tool twice': () => ({ tools: [tool('do'), tool('other'), tool('do', { description: 'y' })] }),
  'has a schema without an end': () => ({
    tools: [tool('do', { inputSchema: { type: 'object', properties: nested(200) } }), tool('other')],
  }),
  'has a huge schema': () => ({
    tools: [tool('do', { inputSchema: { type: 'object', title: 'x'.repeat(70_000) } }), tool('other')],
  }),
  'hides words in its descriptions': () => ({
    tools: [
      tool('do', {
        description: hidden('Adds.<script>alert(1)</script>'),
        inputSchema: { type: 'object', properties: { a: { type: 'number', description: hidden('first') } } },
      }),
    ],
  }),
  'has a schema that refers inside': () => ({
    tools: [
      tool('do', { inputSchema: { type: 'object', $ref: inside, properties: { a: { $ref: inside } } } }),
    ],
  }),
  'lists what is no tool': () => ({ tools: [{ name: 42 }, null, 'do', tool('other')] }),
  'has no schema': () => ({ tools: [tool('do', { inputSchema: undefined }), tool('other')] }),
  'takes a text': () => ({ tools: [tool('do', { inputSchema: { type: 'string' } }), tool('other')] }),
  'takes one of two texts': () => ({
    tools: [
      tool('do', { inputSchema: { anyOf: [{ type: 'string' }, { const: 'x', type: 'string' }] } }),
      tool('other'),
    ],
  }),
  'describes with numbers': () => ({
    tools: [
      tool('do', {
        description: 7,
        title: 8,
        icons: 9,
        annotations: { readOnlyHint: 'yes' },
        execution: 1,
        _meta: 2,
      }),
    ],
  }),
  'has odd properties': () => ({
    tools: [
      tool('do', { inputSchema: { type: 'object', properties: null, required: ['a', 1] }, outputSchema: 3 }),
    ],
  }),
  'says no type': () => ({
    tools: [tool('do', { inputSchema: { anyOf: [{ type: 'object' }, { properties: {} }] } })],
  }),
  'lacks its declared output': () => ({ tools: [tool('do', { outputSchema: { type: 'object' } })] }),
  'describes its tools in its own way': () => ({
    tools: [
      tool('do'),
      tool('union', {
        inputSchema: {
          type: 'object',
          oneOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, {}],
        },
      }),
      tool('text', { inputSchema: { type: 'object', anyOf: [{ type: 'string' }] } }),
      tool('refers', {
        inputSchema: {
          type: 'object',
          $ref: '#/definitions/Ask',
          definitions: { Ask: { properties: { list: { type: 'array' } } } },
        },
      }),
    ],
  }),
};
const answers = {
  'says nothing': () => {},
  dies: () => process.exit(3),
  'speaks no JSON': () => process.stdout.write('<html>hello</html>\n'),
  'answers another id': (id) => say({ id: id + 1000, result: text('mine') }),
  'repeats its arguments': (id, params) => say({ id, result: text(JSON.stringify(params.arguments)) }),
  'answers twice': (id) => {
    say({ id, result: text('one') });
    say({ id, result: text('two') });
  },
  'says a line without an end': () => flood('x'.repeat(1 << 20)),
  'says messages without an end': () =>
    flood(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })}\n`.repeat(
        100,
      ),
    ),
  'answers ten megabytes': (id) => say({ id, result: text('x'.repeat(10 << 20)) }),
  'answers two megabytes': (id) => say({ id, result: text('x'.repeat(2 << 20)) }),
  'answers what is no result': (id) => say({ id, result: { content: 'all good' } }),
  'answers data without an end': (id) =>
    say({ id, result: { content: [], structuredContent: nested(1000) } }),
  'has a hundred files': (id) =>
    say({
      id,
      result: {
        content: Array.from({ length: 100 }, () => ({ type: 'image', data: 'AAAA', mimeType: 'image/png' })),
      },
    }),
  'has no such tool': (id) => say({ id, error: { code: -32602, message: 'Tool do not found' } }),
  'calls it an error': (id) => say({ id, result: { ...text('no'), isError: true } }),
  'asks us for a model': (id) => {
    say({ id: 'mine', method: 'sampling/createMessage', params: { messages: [], maxTokens: 10 } });
    onReply = (reply) => say({ id, result: text(`told ${reply.error?.code}`) });
  },
  'ignores its end': () => {},
  'says a byte now and then': (id) =>
    drip(`${JSON.stringify({ jsonrpc: '2.0', id, result: text('x'.repeat(1 << 20)) })}\n`),
  'tells progress and no result': () =>
    setInterval(
      () => say({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } }),
      20,
    ),
  'tells again and again that its list has changed': (id) => {
    for (let n = 0; n < 50; n++) say({ method: 'notifications/tools/list_changed' });
    setTimeout(() => say({ id, result: text(`listed ${listed}`) }), 50);
  },
  'links to an address inside': (id) =>
    say({
      id,
      result: {
        content: [
          { type: 'resource_link', name: 'more', uri: inside },
          { type: 'text', text: `![](${inside})` },
        ],
      },
    }),
};
let onReply = () => {};
let listed = 0;

function drip(words) {
  let at = 0;
  setInterval(() => process.stdout.write(words[at++]), 5);
}

function flood(piece) {
  const more = () => {
    while (process.stdout.write(piece));
    process.stdout.once('drain', more);
  };
  more();
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    say({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'rude', version: '1' },
      },
    });
  else if (method === 'tools/list' && ++listed)
    say({ id, result: (lists[how] ?? (() => ({ tools: [tool('do')] })))() });
  else if (method === 'tools/call')
    (answers[how] ?? ((it) => say({ id: it, result: text('done') })))(id, params);
  else if (method === undefined) onReply(JSON.parse(line));
  else if (id !== undefined) say({ id, error: { code: -32601, message: `Method not found: ${method}` } });
});
if (how === 'ignores its end') process.on('SIGTERM', () => {});
if (how === 'ignores its end') process.stdin.on('end', () => setInterval(() => {}, 1000));
