/**
 * Which model the librarian uses:
 *   1. a scripted one over HTTP, where `npm run demo` has started it;
 *   2. a real one, when OPENAI_API_KEY or OPENAI_BASE_URL is set (any OpenAI-compatible server);
 *   3. the same script inside this process, so that a fresh clone answers without a key.
 */
import { defineModel } from 'everthread';
import { openaiCompatible } from 'everthread/models';
import { scriptedModel } from 'everthread/testing';
import { followScript } from './_script.ts';

const { EVERTHREAD_DEMO_MODEL_URL, EVERTHREAD_MODEL, OPENAI_API_KEY, OPENAI_BASE_URL } = process.env;
const isReal = Boolean(OPENAI_API_KEY || OPENAI_BASE_URL);

function chooseProvider() {
  if (EVERTHREAD_DEMO_MODEL_URL)
    return openaiCompatible({ baseUrl: EVERTHREAD_DEMO_MODEL_URL, apiKey: 'none' });
  return isReal ? openaiCompatible() : scriptedModel(followScript).provider;
}

export default defineModel({
  name: 'librarian',
  provider: chooseProvider(),
  model: EVERTHREAD_DEMO_MODEL_URL || !isReal ? 'scripted' : EVERTHREAD_MODEL || 'gpt-4.1-mini',
});
