/** What a process of ours runs first: all that it loads behind this is kept compiled. It is told what to load, as an address. */
import { keepCompiled } from '../cli/compile-cache.ts';

keepCompiled();
await import(process.argv[2] as string);
