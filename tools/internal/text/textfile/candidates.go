package textfile

// candidate is an encoding that can be detected.
type candidate struct {
	name string
	// rare is the bits of evidence needed to prefer it to a common encoding.
	rare      float64
	languages string
}

const (
	western  = "en de fr es it pt ca nl sv da nb fi is ga sq"
	central  = "pl cs sk hu sl hr ro sq"
	cyrillic = "ru uk be bg sr mk"
)

// candidates are in the order of preference for texts that do not decide. Encodings
// contained in another one are left out: the text is the same.
var candidates = [...]candidate{
	{"windows-1252", 0, western},
	{"windows-1251", 4, cyrillic},
	{"windows-1250", 7, central},
	{"windows-1253", 7, "el"},
	{"windows-1254", 7, "tr"},
	{"windows-1255", 7, "he"},
	{"windows-1256", 7, "ar fa"},
	{"windows-1257", 8, "lt lv et"},
	{"windows-1258", 9, "vi"},
	{"windows-874", 7, "th"},
	{"gb18030", 7, "zh-hans zh-hant"},
	{"big5", 7, "zh-hant"},
	{"shift_jis", 7, "ja"},
	{"euc-jp", 7, "ja"},
	{"euc-kr", 7, "ko"},
	{"iso-8859-2", 8, central},
	{"iso-8859-15", 5, "en de fr es it pt ca nl fi et"},
	{"koi8-r", 7, "ru bg"},
	{"koi8-u", 8, "ru uk"},
	{"ibm866", 8, "ru bg"},
	{"iso-8859-5", 9, cyrillic},
	{"iso-8859-7", 8, "el"},
	{"iso-8859-8", 9, "he"},
	{"iso-8859-6", 8, "ar"},
	{"x-mac-cyrillic", 9, cyrillic},
	{"ibm855", 10, cyrillic},
	{"ibm852", 10, central},
	{"macintosh", 10, western},
	{"ibm850", 10, western},
	{"ibm437", 11, "en de fr es it sv"},
	{"ibm862", 11, "he"},
	{"iso-8859-13", 9, "lt lv et pl"},
	{"iso-8859-4", 10, "lt lv et"},
	{"iso-8859-16", 11, "ro"},
	{"iso-8859-3", 12, "mt eo"},
	{"iso-8859-14", 12, "cy ga"},
	{"iso-8859-10", 14, "is lt"},
	{"ibm858", 12, western},
	{"ibm860", 13, "pt"},
	{"ibm863", 13, "fr"},
	{"ibm865", 13, "da nb"},
	{"johab", 9, "ko"},
	{"euc-tw", 9, "zh-hant"},
}
