/**
 * A page of one chat, as an author writes it with `useChat`. Its address names the chat, the agent and the version of
 * `ai` that it is bundled with: `?id=…&agent=…&ui=7`. Elements that tests use are marked with `data-` attributes.
 */
import { useChat } from '@ai-sdk/react';
import * as ai from 'ai';
import { createElement as h, useState } from 'react';
import { createRoot } from 'react-dom/client';

const { id, agent, ui = '6' } = Object.fromEntries(new URLSearchParams(location.search));
const api = `/v1/agents/${agent}/chat`;

const transport = new ai.DefaultChatTransport({
  api: `${api}?ui=${ui}`,
  // The thread has all other messages.
  prepareSendMessagesRequest: ({ messages, trigger, messageId }) => ({
    body: { id, message: messages.at(-1), trigger, messageId },
  }),
  prepareReconnectToStreamRequest: () => ({ api: `${api}/${id}/stream?ui=${ui}` }),
});

/** `earlier`: what the chat has, without the response that is running, which `resume` reads. */
function Chat({ earlier }) {
  const [discarded, setDiscarded] = useState([]);
  const chat = useChat({
    id,
    messages: earlier,
    resume: true,
    transport,
    // Version 5 has no approvals.
    sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
    onData({ type, data }) {
      if (type === 'data-attempt') setDiscarded((before) => [...before, ...data.discarded]);
    },
  });
  const { messages, sendMessage, regenerate, status, error } = chat;

  const send = (event) => {
    event.preventDefault();
    sendMessage({ text: event.target.elements.text.value });
    event.target.reset();
  };
  // Replaces the last message of the user, and what follows it.
  const edit = (event) => {
    const { text } = event.target.form.elements;
    sendMessage({ text: text.value, messageId: messages.findLast(({ role }) => role === 'user').id });
    text.value = '';
  };
  // Stops the execution, and the response ends with it. The hook's `stop` would only disconnect.
  const halt = () => fetch(`${api}/${id}/stop`, { method: 'POST' });
  const decide = (part, approved) => {
    if (part.approval) return chat.addToolApprovalResponse({ id: part.approval.id, approved });
    // Version 5's hook does not do this: set the part's answer, then post the message.
    const answer = { state: 'approval-responded', approval: { id: part.id, approved } };
    chat.setMessages((all) =>
      all.map((one) => ({
        ...one,
        parts: one.parts.map((each) => (each === part ? { ...each, ...answer } : each)),
      })),
    );
    return sendMessage();
  };

  return h(
    'main',
    { 'data-status': status },
    ...messages.map(({ id: key, role, parts }) =>
      h(
        'article',
        { key, 'data-role': role },
        ...parts.map((part, at) => show({ part, at, discarded, decide })),
      ),
    ),
    error && h('p', { 'data-error': true }, error.message),
    h(
      'form',
      { onSubmit: send },
      h('input', { name: 'text', placeholder: 'Say something', autoComplete: 'off' }),
      h('button', { type: 'submit', 'data-send': true }, 'Send'),
      h('button', { type: 'button', 'data-edit': true, onClick: edit }, 'Edit'),
      h('button', { type: 'button', 'data-regenerate': true, onClick: () => regenerate() }, 'Regenerate'),
      h('button', { type: 'button', 'data-stop': true, onClick: halt }, 'Stop'),
    ),
  );
}

function show({ part, at, discarded, decide }) {
  if (discarded.includes(part.providerMetadata?.everthread?.part)) return null;
  if (part.type === 'text') return h('p', { key: at, 'data-text': true }, part.text);
  if (part.type === 'reasoning') return h('p', { key: at, 'data-reasoning': true }, h('em', null, part.text));
  const isAsked =
    part.state === 'approval-requested' ||
    (part.type === 'data-everthread-wait' && part.data.state === 'open' && !part.approval);
  const name = part.toolName ?? part.data?.summary;
  if (part.type !== 'dynamic-tool' && !isAsked) return null;
  return h(
    'p',
    { key: at, 'data-tool': part.state },
    h('code', null, name),
    ' ',
    part.output ?? part.errorText ?? '',
    isAsked &&
      h('button', { type: 'button', 'data-approve': true, onClick: () => decide(part, true) }, 'Approve'),
    isAsked && h('button', { type: 'button', 'data-deny': true, onClick: () => decide(part, false) }, 'Deny'),
  );
}

async function open() {
  const response = await fetch(`${api}/${id}/messages?ui=${ui}`);
  const { messages: earlier } = await response.json();
  createRoot(document.getElementById('chat')).render(h(Chat, { earlier }));
}

void open();
