/** How the scripts answer: in small pieces, slow enough to be read along and to be interrupted. */
import { type ScriptStep, says } from 'everthread/testing';

const CHUNK_CHARACTERS = 7;
/** Milliseconds before each piece; 0 where no reader watches. */
const CHUNK_DELAY_MS = Number(process.env.EVERTHREAD_DEMO_CHUNK_DELAY_MS ?? 40);

/** `slowness`: for scripts that run beside one another. */
export function speak(text: string, slowness = 1): ScriptStep {
  const chunks = Math.ceil(text.length / CHUNK_CHARACTERS);
  return says(text, { chunks, chunkDelayMs: CHUNK_DELAY_MS * slowness });
}
