/** Error message of the status `memory`: names the limit that was in effect, in `bytes` (§13.4 a). */
export function memoryMessage(bytes: number): string {
  return `The code used more than its limit of ${bytes} bytes (${Math.floor(bytes / 1024 / 1024)} MiB) of memory.`;
}
