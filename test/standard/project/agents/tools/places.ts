/** A helper beside the tools. */
export function describePlace(place: string): string {
  return `${place} has a fjord.`;
}
