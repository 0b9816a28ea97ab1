/**
 * A page of another origin than the API: `?api=URL&token=TOKEN`. It calls every door with the published client of that
 * door, unmodified, and leaves what each has read in `results`.
 */
import { Role } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { HttpAgent } from '@ag-ui/client';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { DefaultChatTransport, generateText, readUIMessageStream } from 'ai';
import OpenAI from 'openai';
import { HttpClient } from '../../src/client/index.ts';
import { StandardClient } from './standard-client.ts';

const { api, token } = Object.fromEntries(new URLSearchParams(location.search));
const headers = { authorization: `Bearer ${token}` };
const text = 'hi';

const DOORS = {
  async everthread() {
    const client = await HttpClient.connect({ url: api, token });
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: text }] });
    await client.waitForIdle(threadId);
    const { messages } = await client.getMessages(threadId);
    const rows = [];
    for await (const { type } of client.events(threadId, { follow: false })) rows.push(type);
    if (!rows.includes('message.created')) throw new Error(`events: ${rows}`);
    return messages.at(-1).content;
  },
  async openai() {
    const client = new OpenAI({ baseURL: `${api}/v1`, apiKey: token, dangerouslyAllowBrowser: true });
    const { data, response } = await client.chat.completions
      .create({ model: 'helper', messages: [{ role: 'user', content: text }] })
      .withResponse();
    if (!response.headers.get('x-thread-id')) throw new Error('the thread’s id is not readable');
    return data.choices[0].message.content;
  },
  async compatible() {
    const provider = createOpenAICompatible({ name: 'everthread', baseURL: `${api}/v1`, apiKey: token });
    return (await generateText({ model: provider('helper'), prompt: text })).text;
  },
  async chat() {
    const transport = new DefaultChatTransport({ api: `${api}/v1/agents/helper/chat?ui=7`, headers });
    const message = { id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
    const chatId = crypto.randomUUID();
    const stream = await transport.sendMessages({
      chatId,
      messages: [message],
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    });
    let answer;
    for await (const each of readUIMessageStream({ stream })) answer = each;
    return answer.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  },
  async agUi() {
    const agent = new HttpAgent({ url: `${api}/ag-ui/helper`, headers, threadId: crypto.randomUUID() });
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text });
    await agent.runAgent();
    return agent.messages.at(-1).content;
  },
  async a2a() {
    const fetchImpl = (url, init = {}) => {
      const sent = new Headers(init.headers);
      sent.set('authorization', headers.authorization);
      return fetch(url, { ...init, headers: sent });
    };
    const transports = [new JsonRpcTransportFactory({ fetchImpl })];
    const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports });
    const client = await new ClientFactory(options).createFromUrl(`${api}/a2a/helper/`);
    const message = {
      messageId: crypto.randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, filename: '', mediaType: '' }],
      extensions: [],
      referenceTaskIds: [],
    };
    const { artifacts } = await client.sendMessage({ tenant: '', message });
    return artifacts[0].parts[0].content.value;
  },
  async mcp() {
    const client = new Client({ name: 'page', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
    const requestInit = { headers };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${api}/mcp`), { requestInit }));
    const { structuredContent } = await client.callTool({ name: 'helper', arguments: { message: text } });
    await client.close();
    return structuredContent.text;
  },
  async standard() {
    const client = new StandardClient({ endpoint: `${api}/api`, token });
    const { body } = await client.call('POST', '/threads', { agent_id: 'helper' });
    const socket = new WebSocket(await client.streamUrl(body.threadId, {}));
    const answer = new Promise((resolve, reject) => {
      socket.onerror = () => reject(new Error('the socket was refused'));
      socket.onmessage = ({ data }) => {
        const frame = data.startsWith('{') ? JSON.parse(data) : {};
        const { role, status, content } = frame.data ?? {};
        if (role === 'assistant' && status === 'completed') resolve(content);
      };
    });
    await new Promise((resolve) => {
      socket.onopen = resolve;
    });
    await client.call('POST', `/threads/${body.threadId}/messages`, { role: 'user', content: text });
    return answer.finally(() => socket.close());
  },
  async endpoint() {
    const client = await HttpClient.connect({ url: api, token });
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: text }] });
    const url = `${api}/api/threads/${threadId}/own`;
    const answer = await fetch(url, { method: 'PUT', headers: { ...headers, 'x-own': text } });
    return `heard ${answer.headers.get('x-own')}`;
  },
};

const told = Object.entries(DOORS).map(async ([door, call]) => [
  door,
  await call().catch((error) => `${error.name}: ${error.message}`),
]);
globalThis.results = Promise.all(told).then(Object.fromEntries);
