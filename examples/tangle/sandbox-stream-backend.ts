/** The page's streaming: a backend over a box, which is anything with `streamPrompt`; `remoteBox` is one of another Everthread. Needs nothing else. */
import { createSandboxPromptBackend } from '../../src/faces/tangle/index.ts';

const box = {
  id: 'box-1',
  async *streamPrompt(message: string) {
    yield { type: 'message.part.updated', data: { delta: 'You said: ', part: { type: 'text' } } };
    yield { type: 'message.part.updated', data: { delta: message, part: { type: 'text' } } };
    yield { type: 'tool_call', data: { toolName: 'look', toolCallId: 'c1', args: { at: 'the sky' } } };
    yield { type: 'tool_result', data: { toolName: 'look', toolCallId: 'c1', result: 'blue' } };
    yield { type: 'result', data: { finalText: `You said: ${message}` } };
  },
};
const backend = createSandboxPromptBackend({ box });
for await (const event of backend.stream({ task: { id: 't1', intent: 'echo' }, message: 'hello' }))
  console.log(JSON.stringify(event));
