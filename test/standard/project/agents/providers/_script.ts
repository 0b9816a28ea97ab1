import type { ProviderRequest } from '@standardagents/spec';

interface Answer {
  text?: string;
  think?: string;
  call?: { name: string; arguments: string | Record<string, unknown> };
}

/** The next answer of the scripted model, chosen by the system text and the last message. */
export function answer({ messages, tools = [], maxOutputTokens }: ProviderRequest): Answer {
  const system = String(messages[0]?.content);
  const last = messages.at(-1);
  const said = last?.role === 'tool' ? String(last.content) : '';
  if (system.startsWith('You are a scout')) {
    if (last?.role !== 'tool') return { call: { name: 'look_up', arguments: { place: 'Oslo', depth: 2 } } };
    return { call: { name: 'report_findings', arguments: JSON.stringify({ summary: `Found: ${said}` }) } };
  }
  if (last?.role === 'user') {
    return { think: 'A scout may know.', call: { name: 'scout', arguments: { wish: 'Oslo', details: [1] } } };
  }
  if (last?.role === 'tool' && last.toolName === 'scout') {
    return { call: { name: 'remind_later', arguments: { about: said } } };
  }
  const offered = tools.map(({ function: { name } }) => name).join(', ');
  return { text: `${system} Offered: ${offered}. At most ${maxOutputTokens}. ${said}` };
}
