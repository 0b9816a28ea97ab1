/**
 * The sandbox's own modules, as one script for the isolate: read once per child, before any run. A script and not
 * modules, because the engine takes code from its cache for scripts alone, and isolates are many. In the linked program of a child it
 * stands as it was made (`host/program.ts`).
 */
import { extname } from 'node:path';
import { link } from './link.ts';

const ENTRY = new URL(`../guest/boot${extname(import.meta.url)}`, import.meta.url);

/** The name under which the script leaves its exports on the global object, for the first module to take away. */
export const BOOT_GLOBAL = 'everthreadBoot';

export function makeBootScript(): string {
  return `globalThis.${BOOT_GLOBAL} = ${link(ENTRY)};`;
}
