/** The begin of the names of public list prices, in every charge by such a price. A price book must not give a name with it. */
export const LIST_PRICE = "list price: ";
